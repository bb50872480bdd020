import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { piped } from '../support/cli/command.js';
import { startScene, type Scene } from '../support/cli/scene.js';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene.server.close());
beforeEach(() => scene.server.messaging.reset());

const contacts = () => [...scene.server.messaging.project.contacts.values()];

/** Creates contacts with this data, exports them, and gives what was written and what was said of it. */
async function exported(...all: object[]) {
  const { messaging } = scene.server;
  for (const [at, data] of all.entries()) {
    const headers = {
      authorization: `Bearer ${messaging.secretKey}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ email: `p${at}@example.com`, subscribed: at === 0, data });
    await messaging.fetch(`${messaging.baseUrl}/contacts`, { method: 'POST', headers, body });
  }
  const place = { env: scene.env, cwd: scene.folder };
  const args = ['--no-json', 'contacts', 'export', 'people.csv', '--force'];
  const { code, stderr } = await piped(args, place);
  expect(code).toBe(0);
  const file = readFileSync(join(scene.folder, 'people.csv'), 'utf8');
  const again = () => piped(['--no-json', 'contacts', 'import', 'people.csv', '--yes'], place);
  return { file, said: stderr, again };
}

it('exported contacts are imported unchanged: consent, texts, numbers and booleans', async () => {
  const { said, again } = await exported(
    { plan: 'pro', seats: 5, isBeta: true, phone: '+49 30 1234', note: 'Two\nlines, "quoted"' },
    { plan: 'free', seats: 0.5, isBeta: false },
  );
  expect(said).toBe('');
  const before = contacts().map(({ email, subscribed, data }) => ({ email, subscribed, data }));
  scene.server.messaging.reset();
  expect((await again()).code).toBe(0);
  expect(contacts()).toMatchObject(before);
});

it('names the fields that a CSV file cannot hold, before it is written', async () => {
  const { said, file } = await exported({
    tags: ['a', 'b'],
    address: { city: 'Rome' },
    code: '5',
    answer: 'true',
    plan: 'pro',
  });
  expect(said).toMatch(/`tags`, `address`: lists and objects become text/);
  expect(said).toMatch(/`code`, `answer`: some texts look like numbers or booleans/);
  expect(said).not.toContain('`plan`');
  expect(file).toContain('"[""a"",""b""]"');
});
