// The same program with this package.
import { MessagingClient } from '../../dist/esm/index.js';
import { fileJournal } from '../../dist/esm/node/index.js';

const { COUNT, FOLDER = '', LIMIT, WINDOW_MS } = process.env;
const messaging = new MessagingClient({
  journal: fileJournal(`${FOLDER}/journal.jsonl`),
  rateLimit: { limit: Number(LIMIT), windowMs: Number(WINDOW_MS) },
});
const readers = Array.from({ length: Number(COUNT) }, (_, at) => `reader-${at}@example.com`);

await messaging.sendEach(
  readers,
  { from: 'shop@example.com', subject: 'News', body: '<p>News</p>' },
  {
    once: 'news',
    onResult: ({ email, status }) => {
      if (status === 'failed' || status === 'unknown') {
        console.log(`${status} ${email}`);
      }
    },
  },
);
