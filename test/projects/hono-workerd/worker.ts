import { Hono } from 'hono';
import { MessagingClient } from 'postreel';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const app = new Hono<{ Bindings: { MESSAGING_API_KEY: string; MESSAGING_BASE_URL: string } }>();

app.get('/signup', async (context) => {
  const { MESSAGING_API_KEY: apiKey, MESSAGING_BASE_URL: baseUrl } = context.env;
  const { emails } = await new MessagingClient({ apiKey, baseUrl }).send(mail);
  return context.json({ sent: emails.length });
});

export default app;
