import { Controller, HttpCode, Injectable, Module, Post } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { MessagingClient } from 'postreel';
import { PostreelFilter } from './postreel.filter.js';

@Injectable()
class Mailer {
  constructor(private readonly messaging: MessagingClient) {}

  async welcome(to: string): Promise<number> {
    const mail = { from: 'shop@example.com', to, subject: 'Hi', body: 'Hi' };
    return (await this.messaging.send(mail)).emails.length;
  }
}

@Controller()
class SignUpController {
  constructor(private readonly mailer: Mailer) {}

  @Post('signup')
  @HttpCode(202)
  async signUp() {
    return { sent: await this.mailer.welcome('ann@example.com') };
  }
}

@Module({
  controllers: [SignUpController],
  providers: [
    Mailer,
    // One client for the whole app: it holds the rate limit.
    { provide: MessagingClient, useFactory: () => new MessagingClient() },
    { provide: APP_FILTER, useClass: PostreelFilter },
  ],
})
export class AppModule {}
