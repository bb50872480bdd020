import { MessagingClient } from '../../src/index.js';

// `node --expose-gc --import tsx bench/send-each/memory.ts`: how many bytes sendEach() keeps for
// each recipient until its run ends, in addition to the program's own.
const people = Number(process.env['PEOPLE'] ?? 120_000);
let sent = 0;
// Answers in another turn of the event loop, as over a network: weakly held objects are freed then.
const fetch = async () => {
  await new Promise((resolve) => setImmediate(resolve));
  const contact = { id: `con_${sent}`, email: `p${sent}@example.com` };
  const emails = [{ contact, email: `eml_${sent++}_0123456789` }];
  return Response.json({ success: true, data: { emails, timestamp: '' } });
};
const messaging = new MessagingClient({
  apiKey: 'sk_test',
  baseUrl: 'https://api.test',
  fetch,
  rateLimit: false,
});
const mail = { from: 'shop@example.com', subject: 'News', body: '<p>Hi</p>' };

let [first, last] = [0, 0];
function* rows() {
  for (let at = 0; at < people; at++) {
    yield `person-${at}@example.com`;
    if (at === 1_000) {
      first = heapBytes();
    }
  }
  last = heapBytes();
}
await messaging.sendEach(rows(), mail);
console.log(
  `${people} recipients: ${Math.round((last - first) / (people - 1_000))} bytes for each`,
);

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
