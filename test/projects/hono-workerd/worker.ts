import { Hono } from 'hono';
import { isPostreelError, MessagingClient } from 'postreel';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const app = new Hono<{ Bindings: { MESSAGING_API_KEY: string; MESSAGING_BASE_URL: string } }>();

app.post('/signup', async (context) => {
  const { MESSAGING_API_KEY: apiKey, MESSAGING_BASE_URL: baseUrl } = context.env;
  const { emails } = await new MessagingClient({ apiKey, baseUrl }).send(mail);
  return context.json({ sent: emails.length });
});
// The error's own `status` is about your key and your request, not about the visitor's.
app.onError((error, context) => {
  console.error(error);
  const mayBeSent = isPostreelError(error) && error.outcome === 'unknown';
  return context.json({ mayBeSent }, 502);
});

export default app;
