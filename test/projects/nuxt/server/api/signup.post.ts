import { isPostreelError } from 'postreel';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

export default defineEventHandler(async (event) => {
  try {
    const { emails } = await useMessaging().send(mail);
    setResponseStatus(event, 202);
    return { sent: emails.length };
  } catch (error) {
    console.error(error);
    // Without it Nuxt answers with the error's `status`: a 401 to your key becomes the visitor's.
    setResponseStatus(event, 502);
    return { mayBeSent: isPostreelError(error) && error.outcome === 'unknown' };
  }
});
