import express from 'express';
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

export const app = express();
app.post('/signup', async (_request, response) => {
  const { emails } = await messaging.send(mail);
  response.status(202).json({ sent: emails.length });
});
