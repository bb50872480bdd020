import Fastify from 'fastify';
import { isPostreelError, MessagingClient } from 'postreel';

const messaging = new MessagingClient();
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

const app = Fastify({ logger: true });
app.post('/signup', async (_request, reply) => {
  const { emails } = await messaging.send(mail);
  return reply.code(202).send({ sent: emails.length });
});

// Without it Fastify answers with the error's `status`: a 401 to your key becomes the visitor's.
app.setErrorHandler((error, request, reply) => {
  if (!isPostreelError(error)) throw error;
  request.log.error(error);
  return reply.code(502).send({ mayBeSent: error.outcome === 'unknown' });
});

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) });
