import type { APIGatewayProxyResultV2, Context } from 'aws-lambda';
import { isPostreelError, MessagingClient } from 'postreel';

// Outside of the handler: the next invocation of this instance uses it again.
const messaging = new MessagingClient();
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

export async function handler(_event: unknown, context: Context): Promise<APIGatewayProxyResultV2> {
  // An invocation that Lambda ends never learns whether the email was sent.
  const deadline = context.getRemainingTimeInMillis() - 500;
  try {
    const { emails } = await messaging.send(mail, { deadline });
    return { statusCode: 202, body: JSON.stringify({ sent: emails.length }) };
  } catch (error) {
    console.error(error);
    // The error's own `status` is about your key and your request, not about the visitor's.
    const mayBeSent = isPostreelError(error) && error.outcome === 'unknown';
    return { statusCode: 502, body: JSON.stringify({ mayBeSent }) };
  }
}
