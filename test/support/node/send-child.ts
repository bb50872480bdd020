// Mails many people with a journal, and prints the report. A test kills this process several times.
import { MessagingClient } from 'postreel';
import { fileJournal } from 'postreel/node';

const [, , path = '', count = '', unknown] = process.argv;
const messaging = new MessagingClient({ journal: fileJournal(path), rateLimit: false });
const people = Array.from({ length: Number(count) }, (_, index) => `p${index}@example.com`);
const message = { from: 'shop@example.com', subject: 'News', body: '<p>Hi</p>' };
const options = { once: 'news', unknown: unknown === 'send' ? 'send' : 'list' } as const;
console.log(JSON.stringify(await messaging.sendEach(people, message, options)));
