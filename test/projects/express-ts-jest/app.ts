import express, { type ErrorRequestHandler } from 'express';
import { isPostreelError, MessagingClient } from 'postreel';

const messaging = new MessagingClient();
const mail = { from: 'shop@example.com', subject: 'Hi', body: 'Hi' };

export const app = express();
app.use(express.urlencoded());
app.post('/signup', async (request, response) => {
  const { email } = request.body as { email: string }; // as: the field of your form
  const { emails } = await messaging.send({ ...mail, to: email });
  response.status(202).json({ sent: emails.length });
});

// Without it Express answers with the error's `status`: a 401 to your key becomes the visitor's.
const onError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (!isPostreelError(error)) return next(error);
  console.error(error);
  response.status(502).json({ mayBeSent: error.outcome === 'unknown' });
};
app.use(onError);
