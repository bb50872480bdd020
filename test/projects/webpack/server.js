import { MessagingClient } from 'postreel';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
new MessagingClient().send(mail).then(({ emails }) => {
  console.log('sent', emails.length);
});
