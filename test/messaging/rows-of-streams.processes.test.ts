import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** How a call on rows `rows` is made, as the first call of a process. */
const calls: Readonly<Record<string, string>> = {
  'sendEach()': `await messaging.sendEach(rows, mail);`,
  'sendEach() with a refused option': `await messaging.sendEach(rows, mail, { concurrency: 0 });`,
  'verifyAll()': `for await (const one of messaging.verifyAll(rows)) console.log(one);`,
  'verifyAll(), iterated later': `const all = messaging.verifyAll(rows);
    await later();
    for await (const one of all) console.log(one);`,
  'contacts.lookupAll()': `for await (const one of messaging.contacts.lookupAll(rows)) console.log(one);`,
  'contacts.subscribeAll()': `await messaging.contacts.subscribeAll(rows);`,
  'contacts.unsubscribeAll() with a refused option': `await messaging.contacts.unsubscribeAll(rows, { from: -1 });`,
  'contacts.deleteAll()': `await messaging.contacts.deleteAll(rows);`,
  'contacts.importAll()': `await messaging.contacts.importAll(rows, { newContacts: 'subscribed' });`,
  'contacts.importAll() with a refused option': `await messaging.contacts.importAll(rows, { from: -1 });`,
  'media.queue()': `for await (const one of media.queue(rows)) console.log(one);`,
  'media.queue(), iterated later': `const queue = media.queue(rows);
    await later();
    for await (const one of queue) console.log(one);`,
  'media.queue() with a refused option': `for await (const one of media.queue(rows, { maxJobs: -1 })) console.log(one);`,
};

/** Sources that fail before a module has loaded. */
const sources: Readonly<Record<string, string>> = {
  'a file that does not exist': `createReadStream('typo.csv')`,
  'a stream that is destroyed at once': `new Readable({ read() {} }).destroy(new Error('torn'))`,
};

const imports = {
  'ES modules': `import { MessagingClient, MediaClient } from 'postreel';
    import { createReadStream } from 'node:fs';
    import { Readable } from 'node:stream';`,
  CommonJS: `const { MessagingClient, MediaClient } = require('postreel');
    const { createReadStream } = require('node:fs');
    const { Readable } = require('node:stream');`,
};

const program = (source: string, call: string) => `
  const rows = ${source};
  const baseUrl = 'http://127.0.0.1:9';
  const messaging = new MessagingClient({ apiKey: 'sk_test', baseUrl });
  const media = new MediaClient({ apiKey: 'key', baseUrl });
  const mail = { from: 'shop@example.com', subject: 'Hi', body: '<p>Hi</p>' };
  const later = () => new Promise((resolve) => setTimeout(resolve, 50));
  async function main() {
    try {
      ${call}
      console.log('resolved');
    } catch (error) {
      console.log('rejected', error.name);
    }
    await later();
    console.log('alive');
  }
  main();`;

const cases = Object.keys(imports).flatMap((format) =>
  Object.keys(calls).flatMap((call) =>
    Object.keys(sources).map((source) => ({ format, call, source })),
  ),
);

describe('the first call of a process, on a stream that fails while a module is loaded', () => {
  it.each(cases)('rejects: $call of $source, in $format', async ({ format, call, source }) => {
    const code = imports[format as keyof typeof imports] + program(sources[source]!, calls[call]!);
    const type = format === 'CommonJS' ? 'commonjs' : 'module';
    const { stdout } = await run(process.execPath, [`--input-type=${type}`, '--eval', code]);
    expect(stdout).toMatch(/^rejected \w*Error\nalive\n$/);
  });
});
