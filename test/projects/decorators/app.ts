import 'reflect-metadata';
import { MessagingClient } from 'postreel';

type Class = new (...parts: never[]) => object;
function Injectable(): (target: Class) => void {
  return () => undefined;
}

/** Makes a class with what its constructor asks for, as NestJS does. */
function make<T extends object>(target: new (...parts: never[]) => T): T {
  const wanted = (Reflect.getMetadata('design:paramtypes', target) ?? []) as Class[];
  return new target(...(wanted.map((part) => make(part)) as never[]));
}

@Injectable()
class Mailer {
  constructor(private readonly messaging: MessagingClient) {}

  async welcome(to: string): Promise<number> {
    const mail = { from: 'shop@example.com', to, subject: 'Hi', body: 'Hi' };
    return (await this.messaging.send(mail)).emails.length;
  }
}

@Injectable()
class SignUp {
  constructor(readonly mailer: Mailer) {}
}

void make(SignUp)
  .mailer.welcome('ann@example.com')
  .then((sent) => console.log('sent', sent));
