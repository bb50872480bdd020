import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  entryPoints,
  installPackage,
  manifest,
  type Project,
} from '../support/package/installed.js';

const services = `
  const { createFakeMedia, createFakeMessaging } = require('postreel/testing');
  const fake = createFakeMessaging();
  const { baseUrl, fetch, publicKey, secretKey } = fake;
  const media = createFakeMedia();
  const mediaOptions = { apiKey: media.apiKey, baseUrl: media.baseUrl, fetch: media.fetch };
  const options = { apiKey: secretKey, baseUrl, fetch };`;

/** A small program for each entry point, and its output. */
const programs: Readonly<Record<string, readonly [code: string, printed: string]>> = {
  postreel: [
    `const { isApiError, MessagingClient } = require('postreel');
    const error = await new MessagingClient(options).contacts.get('none').catch((e) => e);
    console.log(isApiError(error), error.name, error.outcome);`,
    'true NotFoundError rejected',
  ],
  'postreel/messaging': [
    `const { MessagingClient } = require('postreel/messaging');
    const { contacts } = new MessagingClient(options);
    await contacts.create({ email: 'ann@example.com' });
    for await (const { email } of contacts.list()) console.log(email);`,
    'ann@example.com',
  ],
  'postreel/media': [
    `const { MediaClient } = require('postreel/media');
    const payload = [{ workflowType: 'idea', workflowFormat: 'video', prompt: 'Hi', voiceId: 'voice_1' }];
    const [job] = await new MediaClient(mediaOptions).generate.video({ payload });
    await media.advance('1h');
    console.log((await job.status()).status);`,
    'success',
  ],
  'postreel/tracker': [
    `const { createTracker } = require('postreel/tracker');
    const tracker = createTracker({ publicKey, baseUrl });
    tracker.track('signed_up'); // there is no page, so nothing is kept or sent
    console.log(fake.requests.length);`,
    '0',
  ],
  'postreel/tracker/react': [
    `const { createElement } = require('react');
    const { renderToString } = require('react-dom/server');
    const { createTracker } = require('postreel/tracker');
    const { TrackerProvider, useTracker } = require('postreel/tracker/react');
    const Button = () => createElement('b', null, typeof useTracker().track);
    const tracker = createTracker({ publicKey, baseUrl });
    console.log(renderToString(createElement(TrackerProvider, { tracker }, createElement(Button))));`,
    '<b>function</b>',
  ],
  'postreel/tracker/proxy': [
    `const { createTrackProxy } = require('postreel/tracker/proxy');
    const body = JSON.stringify({ id: '1', event: 'signed_up', email: 'ann@example.com' });
    const headers = { 'Content-Type': 'application/json' };
    const request = new Request('https://app.test/v1/track', { method: 'POST', headers, body });
    const { status } = await createTrackProxy(options)(request);
    console.log(status, fake.project.events.length);`,
    '200 1',
  ],
  'postreel/tracker/extras': [
    `const { stamp } = require('postreel/tracker/extras');
    const event = stamp({ id: 'id_1', event: 'signed_up', data: {} });
    console.log(event.data.eventId.value);`,
    'id_1',
  ],
  'postreel/tracker/native': [
    `const { createNativeTracker } = require('postreel/tracker/native');
    const tracker = createNativeTracker({ publicKey, baseUrl, fetch, storage: 'memory' });
    const { outcome } = tracker.track('signed_up', {}, { email: 'ann@example.com' });
    console.log((await outcome).status, fake.project.events.length);`,
    'delivered 1',
  ],
  'postreel/webhooks': [
    `const { signWebhookUrl, verifyWebhook } = require('postreel/webhooks');
    const secret = 'a secret of at least 32 characters';
    const url = await signWebhookUrl('https://app.test/done', { secret });
    const error = await verifyWebhook({ url: url + 'x', body: '{}' }, { secret }).catch((e) => e);
    console.log(error.name, error.code);`,
    'WebhookVerificationError SIGNATURE_INVALID',
  ],
  'postreel/node': [
    `const { fileJournal } = require('postreel/node');
    const { MediaClient } = require('postreel');
    const client = new MediaClient({ ...mediaOptions, journal: fileJournal('jobs.jsonl') });
    const payload = [{ workflowType: 'idea', workflowFormat: 'video', prompt: 'Hi', voiceId: 'voice_1' }];
    const [job] = await client.generate.video({ payload });
    console.log(require('node:fs').readFileSync('jobs.jsonl', 'utf8').includes(job.fileId));`,
    'true',
  ],
  'postreel/schemas': [
    `const { messaging } = require('postreel/schemas');
    console.log(messaging.contacts.create.body.safeParse({ email: 5 }).success);`,
    'false',
  ],
  'postreel/testing': [
    `const { startFakeServer } = require('postreel/testing');
    const server = await startFakeServer();
    console.log((await globalThis.fetch(server.messagingUrl + '/contacts')).status);
    await server.close();`,
    '401',
  ],
  'postreel/redis': [
    `const { redisRateBudget } = require('postreel/redis');
    try { redisRateBudget({}); } catch (error) { console.log(error.name); }`,
    'ConfigurationError',
  ],
  'postreel/postgres': [
    `const { migratePostgres } = require('postreel/postgres');
    const statements = [];
    await migratePostgres({ query: async (text) => { statements.push(text); return { rows: [] }; } });
    console.log(/create table/i.test(statements.join()));`,
    'true',
  ],
  'postreel/pg-boss': [
    `const { pgBossHandler } = require('postreel/pg-boss');
    try { pgBossHandler({}, { save() {} }); } catch (error) { console.log(error.message); }`,
    '`pgBossHandler()` needs a `MediaClient` as its first argument.',
  ],
  'postreel/bullmq': [
    `const { bullmqProcessor } = require('postreel/bullmq');
    try { bullmqProcessor({}, { save() {} }); } catch (error) { console.log(error.message); }`,
    '`bullmqProcessor()` needs a `MediaClient` as its first argument.',
  ],
  'postreel/otel': [
    `const { instrument } = require('postreel/otel');
    const { MessagingClient } = require('postreel');
    const client = new MessagingClient(options);
    const stop = await instrument(client);
    await client.contacts.list();
    stop();
    console.log(fake.requests.length);`,
    '1',
  ],
};

let project: Project;
beforeAll(async () => {
  project = await installPackage({
    with: [...Object.keys(manifest.peerDependencies), 'react-dom'],
  });
});
afterAll(() => project.remove());

describe('the CommonJS build', () => {
  it('loads every entry point where ES modules cannot be required', async () => {
    // Deletes the cached modules, so that each entry point loads like the first one.
    const code = `
      for (const entryPoint of ${JSON.stringify(entryPoints)}) {
        for (const path of Object.keys(require.cache)) {
          delete require.cache[path];
        }
        try {
          console.log(entryPoint, typeof require(entryPoint));
        } catch (error) {
          console.log(entryPoint, String(error));
        }
      }`;
    const file = await project.write('strict.cjs', code);
    const output = await project.run(process.execPath, ['--no-experimental-require-module', file]);
    expect(output.trim().split('\n')).toEqual(
      entryPoints.map((entryPoint) => `${entryPoint} object`),
    );
  });

  it.each(Object.entries(programs))('works through %s', async (name, [code, printed]) => {
    const program = `${services}\n(async () => {\n${code}\n})();\n`;
    const file = await project.write(`${name.replaceAll('/', '-')}.cjs`, program);
    const output = await project.run(process.execPath, ['--no-experimental-require-module', file]);
    expect(output.trim()).toBe(printed);
  });

  it('has a program in this test for every entry point', () => {
    expect(Object.keys(programs).sort()).toEqual([...entryPoints].sort());
  });

  it('keeps the class names of the clients, which a console shows', async () => {
    const code = `
      const { MediaClient, MessagingClient } = require('postreel');
      console.log(MessagingClient.name, MediaClient.name);`;
    const file = await project.write('names.cjs', code);
    expect(await project.run(process.execPath, [file])).toBe('MessagingClient MediaClient\n');
  });
});
