// Makes speech with a named queue, and prints the result of each text. A test kills this process:
// at any time, or when the process reports that a paid call is about to be sent or has just been
// answered.
import { MediaClient } from 'postreel';

const [, , journalKind, at, count] = process.argv;
const { CONTROL_URL, SPEED } = process.env;
const moment = async (name) => (await fetch(`${CONTROL_URL}/${name}`)).text();

const { journal, close } = await journalOf(journalKind, at);
const media = new MediaClient({
  journal,
  rateLimit: false,
  timeout: 4_000 * Number(SPEED), // four seconds of real time
  async fetch(url, init) {
    if (init.method !== 'POST') {
      return fetch(url, init);
    }
    await moment('before');
    const response = await fetch(url, init);
    const text = await response.text();
    await moment('after');
    return new Response(text, response);
  },
});
media.on('warning', () => undefined);
const texts = Array.from({ length: Number(count) }, (_, index) => ({
  content: `Text ${index}`,
  voiceId: 'voice_1',
}));

await moment('start');
const results = [];
const queue = media.queue(texts, { name: 'texts', concurrency: 2 });
for await (const { index, input, job, file, error } of queue) {
  const { code, message } = error ?? {};
  results.push({ index, text: input.content, fileId: job?.fileId, isMade: !!file, code, message });
}
console.log(JSON.stringify(results));
await close();

async function journalOf(kind, address) {
  const nothing = () => undefined;
  if (kind === 'file') {
    const { fileJournal } = await import('postreel/node');
    return { journal: fileJournal(address), close: nothing };
  }
  if (kind === 'redis') {
    const [{ Redis }, { redisJournal }] = [await import('ioredis'), await import('postreel/redis')];
    const redis = new Redis(address);
    return { journal: redisJournal(redis, { prefix: 'kills' }), close: () => redis.disconnect() };
  }
  const [{ Pool }, { postgresJournal }] = [
    (await import('pg')).default,
    await import('postreel/postgres'),
  ];
  const pool = new Pool({ connectionString: address });
  return { journal: postgresJournal(pool, { name: 'kills' }), close: () => pool.end() };
}
