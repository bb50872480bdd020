// The jobs of pg-boss 12: stored ones are completed, the one in doubt is set aside, and a heartbeat is kept up.
import assert from 'node:assert/strict';
import { PgBoss } from 'pg-boss';
import { MediaClient, memoryJournal } from 'postreel';
import { pgBossSource } from 'postreel/pg-boss';
import { createFakeMedia } from 'postreel/testing';

const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, schedule: false });
boss.on('error', console.error);
await boss.start();
await boss.createQueue('speech', { retryLimit: 3, expireInSeconds: 3_600, heartbeatSeconds: 60 });
for (const content of ['One.', 'Two.', 'Three.']) {
  await boss.send('speech', { content, voiceId: 'voice_1' });
}

const { apiKey, baseUrl, fetch, fail, files } = createFakeMedia({
  durations: () => 0,
  queueTime: 0,
  rateLimit: false,
  clock: { mode: 'real' },
});
fail('POST /v1/generate/audio', { loseAnswer: true, after: 2 });
const media = new MediaClient({ apiKey, baseUrl, fetch, journal: memoryJournal() });
const queue = media.queue(pgBossSource(boss, 'speech'), { save: async () => undefined });
let stored = 0;
let ended = 0;
for await (const { file } of queue) {
  stored += file ? 1 : 0;
  if (++ended === 3) {
    queue.drain();
  }
}
assert.equal(stored, 2);
assert.equal(files.length, 3);
const aside = await boss.fetch('speech-unknown', { batchSize: 10 });
assert.equal(aside.length, 1);
assert.deepEqual(await boss.fetch('speech', { batchSize: 10 }), []);

const source = pgBossSource(boss, 'speech');
const id = await boss.send('speech', { content: 'Long.', voiceId: 'voice_1' });
const [item] = await source.take(1);
assert.equal(item.id, id);
const beat = async () => (await boss.getJobById('speech', id)).heartbeatOn;
const before = await beat();
await new Promise((resolve) => setTimeout(resolve, 50));
await source.extend(item);
assert.ok((await beat()) > before, 'the heartbeat is kept up');
// Set aside twice, as after a crash between the two steps: it is there once.
await source.fail(item, new Error('lost'), { outcome: 'unknown' });
await source.fail(item, new Error('lost'), { outcome: 'unknown' });
assert.equal((await boss.fetch('speech-unknown', { batchSize: 10 })).length, 1);
await boss.stop({ graceful: false });
