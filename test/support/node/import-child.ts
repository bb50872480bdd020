// Imports many rows, as objects or as CSV text, and prints the peak memory.
import { MessagingClient } from 'postreel';

const [, , count = '', kind = ''] = process.argv;
const messaging = new MessagingClient({ rateLimit: false });

function* objects() {
  for (let index = 0; index < Number(count); index++) {
    yield { email: `person-${index}@example.com`, plan: index % 2 ? 'pro' : 'free', seats: index };
  }
}

async function* text() {
  await Promise.resolve();
  yield 'email,plan,seats\n';
  for (const { email, plan, seats } of objects()) {
    yield `${email},${plan},${seats}\n`;
  }
}

let most = 0;
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 20);
const { contacts } = messaging;
const { done, failed, jobs } = await (kind === 'text'
  ? contacts.importAll(text(), { newContacts: 'subscribed' })
  : contacts.importAll(objects(), { newContacts: 'subscribed' }));
clearInterval(watch);
const rssMb = Math.max(most, process.resourceUsage().maxRSS * 1024) / 1_000_000;
console.log(JSON.stringify({ imported: done, failed, parts: jobs.length, rssMb }));
