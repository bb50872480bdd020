import Router from '@koa/router';
import Koa from 'koa';
import { isPostreelError, MessagingClient } from 'postreel';

const messaging = new MessagingClient();
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

const app = new Koa();

// Without it Koa answers with the error's `status`: a 401 to your key becomes the visitor's.
app.use(async (context, next) => {
  try {
    await next();
  } catch (error) {
    if (!isPostreelError(error)) throw error;
    console.error(error);
    context.status = 502;
    context.body = { mayBeSent: error.outcome === 'unknown' };
  }
});

const router = new Router();
router.post('/signup', async (context) => {
  const { emails } = await messaging.send(mail);
  context.status = 202;
  context.body = { sent: emails.length };
});
app.use(router.routes());

app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
