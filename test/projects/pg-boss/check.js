// A worker of pg-boss 12: jobs are completed, the one in doubt ends without a second call, and a stop hands back.
import assert from 'node:assert/strict';
import { PgBoss } from 'pg-boss';
import { MediaClient, memoryJournal } from 'postreel';
import { pgBossHandler } from 'postreel/pg-boss';
import { createFakeMedia } from 'postreel/testing';

const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, schedule: false });
boss.on('error', console.error);
await boss.start();
await boss.createQueue('speech', { retryLimit: 3, expireInSeconds: 3_600, heartbeatSeconds: 60 });
const send = (content) => boss.send('speech', { content, voiceId: 'voice_1' });
const ids = [await send('One.'), await send('Two.'), await send('Three.')];

const { apiKey, baseUrl, fetch, fail, files } = createFakeMedia({
  durations: ({ settings }) => (settings.content === 'Long.' ? '1h' : 0),
  queueTime: 0,
  rateLimit: false,
  clock: { mode: 'real' },
});
fail('POST /v1/generate/audio', { loseAnswer: true, after: 2 });
const media = new MediaClient({ apiKey, baseUrl, fetch, journal: memoryJournal() });
const saved = [];
const save = async ({ fileId }) => saved.push(fileId);
const stopping = new AbortController();
const make = pgBossHandler(media, { save, signal: stopping.signal });
const options = { batchSize: 1, localConcurrency: 4, pollingIntervalSeconds: 0.5 };
await boss.work('speech', options, make);

const stateOf = async (id) => (await boss.getJobById('speech', id)).state;
async function until(isSo) {
  for (let tries = 0; !(await isSo()); tries++) {
    assert.ok(tries < 300, 'it takes more than a minute');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
await until(async () => {
  const states = await Promise.all(ids.map(stateOf));
  return states.every((state) => state === 'completed' || state === 'failed');
});
assert.deepEqual((await Promise.all(ids.map(stateOf))).sort(), [
  'completed',
  'completed',
  'failed',
]);
assert.equal(saved.length, 2);
assert.equal(files.length, 3, 'what may have been sent is sent once');

const long = await send('Long.');
await until(() => files.length === 4);
stopping.abort();
await boss.offWork('speech');
await until(async () => (await stateOf(long)) === 'retry');
assert.equal(saved.length, 2);
await boss.stop({ graceful: false });
