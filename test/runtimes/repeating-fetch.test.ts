import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage, repository, type Project } from '../support/package/installed.js';
import { endings, openCutServer, type CutServer } from '../support/runtimes/cut-server.js';
import {
  argumentsOf,
  findRuntime,
  newest,
  oldest,
  type Runtime,
} from '../support/runtimes/runtimes.js';

const writes = ['POST', 'PATCH', 'DELETE'];

interface Repeater extends Runtime {
  /** The methods that the runtime's `fetch` repeats by itself. */
  readonly repeats: readonly string[];
}

const repeats: Readonly<Record<string, readonly string[]>> = {
  'Bun 1.2.0': writes,
  'Bun 1.4.5': ['DELETE'],
  'Deno 2.9.6': writes,
};

const runtimes = [...oldest, ...newest.filter(({ name }) => name !== 'Node')].map(
  (runtime): Repeater => ({
    ...runtime,
    repeats: repeats[`${runtime.name} ${runtime.version}`] ?? [],
  }),
);

/**
 * Makes each write on connections that were used before, and the same writes with `fetch` alone.
 */
const program = (origin: string) => `
import { MediaClient, MessagingClient } from 'postreel';
import { createTrackProxy } from 'postreel/tracker/proxy';

const origin = ${JSON.stringify(origin)};
const clientsAt = (baseUrl) => ({
  messaging: new MessagingClient({ apiKey: 'sk_test', baseUrl, retries: 0, rateLimit: false }),
  media: new MediaClient({ apiKey: 'test', baseUrl, retries: 0, rateLimit: false }),
  proxy: createTrackProxy({ apiKey: 'pk_test', baseUrl, origins: ['https://shop.example'] }),
});
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const video = { workflowType: 'idea', workflowFormat: 'video', prompt: 'Cats', voiceId: 'v' };
const page = () => new Request('https://shop.example/collect', {
  method: 'POST',
  headers: { 'content-type': 'application/json', origin: 'https://shop.example' },
  body: JSON.stringify({ id: crypto.randomUUID(), event: 'seen', email: 'ann@example.com' }),
});
const writes = {
  'POST send': ({ messaging }) => messaging.send(mail),
  'POST video': ({ media }) => media.generate.video({ payload: [video] }),
  'POST file': ({ messaging }) =>
    messaging.contacts.import({ data: 'email\\neve@example.com\\n', filename: 'a.csv' }),
  'PATCH contact': ({ messaging }) => messaging.contacts.update('con_1', { data: { plan: 'pro' } }),
  'DELETE contact': ({ messaging }) => messaging.contacts.delete('con_1'),
  'POST proxy': ({ proxy }) => proxy(page()).then(({ status }) => {
    throw { outcome: status === 502 ? 'unknown' : status };
  }),
};
const outcomes = {};
const warm = clientsAt(origin + '/ok');
for (const fate of ${JSON.stringify(endings)}) {
  for (const [name, write] of Object.entries(writes)) {
    await warm.messaging.contacts.get('con_1');
    await write(warm).then(undefined, () => undefined);
    await warm.messaging.contacts.get('con_1');
    const outcome = await write(clientsAt(origin + '/' + fate)).then(
      () => 'done',
      (error) => error.outcome,
    );
    outcomes[fate + ' ' + name] = outcome;
  }
  for (const method of ${JSON.stringify(writes)}) {
    await fetch(origin + '/ok').then((answer) => answer.text());
    const body = method === 'DELETE' ? undefined : 'text';
    await fetch(origin + '/' + fate + '/bare', { method, body }).then(
      (answer) => answer.text(),
    ).catch(() => undefined);
  }
}
console.log(JSON.stringify(outcomes));
`;

let project: Project;
beforeAll(async () => {
  project = await installPackage();
});
afterAll(() => project.remove());

describe.each(runtimes)('on $name $version', (runtime) => {
  let server: CutServer;
  beforeAll(async () => {
    server = await openCutServer();
  });
  afterAll(() => server.close());

  it('a connection that ends without a whole response makes no request arrive twice', async ({
    skip,
  }) => {
    const found = await findRuntime(runtime);
    const command = 'missing' in found ? skip(found.missing) : found.command;
    const file = await project.write('cut.mjs', program(server.origin));
    const output = await project.run(command, [...argumentsOf(runtime), file]);
    const outcomes = JSON.parse(output) as Record<string, string>; // as: the program prints it
    const own = [...server.arrivals].filter(([key]) => !/\/ok|\/bare$/.test(key));
    expect(own).toHaveLength(6 * endings.length);
    expect(own.filter(([, count]) => count !== 1)).toEqual([]);
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['unknown']));
    // Without this check, a runtime that repeats nothing would pass without testing anything.
    const bare = writes.filter((method) => server.arrivals.get(`${method} /silent/bare`) !== 1);
    expect(bare).toEqual(runtime.repeats);
  });
});

it('the oldest versions in this test are the minimum versions in the documents', () => {
  const table = readFileSync(join(repository, 'docs/runtimes.md'), 'utf8');
  for (const { name, version } of oldest) {
    const [, minimum] = new RegExp(`^\\| ${name} +\\| ([\\d.]+)`, 'm').exec(table) ?? [];
    const parts = [...(minimum ?? '').split('.'), '0', '0'].slice(0, 3);
    expect(`${name} ${parts.join('.')}`).toBe(`${name} ${version}`);
  }
});
