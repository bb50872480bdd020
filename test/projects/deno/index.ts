import { MessagingClient } from 'postreel';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const { emails } = await new MessagingClient().send(mail);
console.log('sent', emails.length);
