import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTerminal, piped } from '../support/cli/command.js';
import { startScene, type Scene } from '../support/cli/scene.js';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
  scene.write('people.csv', 'email,plan\nbob@example.com,pro\ncarl@example.com,free\n');
  scene.write(
    'left.csv',
    'email,unsubscribed_at\nbob@example.com,2026-01-31\ncarl@example.com,\ndee@example.com,no\neve@example.com,?\n',
  );
});
afterAll(() => scene.server.close());
beforeEach(() => scene.server.messaging.reset());

const place = () => ({ env: scene.env, cwd: scene.folder });
const states = () =>
  [...scene.server.messaging.project.contacts.values()].map(({ email, subscribed }) => [
    email.replace(/@.*/, ''),
    subscribed,
  ]);
const importOf = (...args: readonly string[]) => piped(['contacts', 'import', ...args], place());
const refusalOf = (...args: readonly string[]) => importOf('--no-json', ...args);

describe('postreel contacts import', () => {
  it('is rejected without a statement about consent, with its options and the columns', async () => {
    for (const more of [[], ['--yes']]) {
      const { code, stderr } = await refusalOf('people.csv', ...more);
      expect(code).toBe(4);
      for (const words of [
        ...['--new-contacts subscribed', '--columns "…=not:subscribed"', '--subscribed true'],
        ...['existing contacts included', 'The columns are "email", "plan"'],
      ]) {
        expect(stderr).toContain(words);
      }
    }
    expect(scene.server.messaging.requests.map(({ path }) => path)).not.toContain(
      '/contacts/import',
    );
  });

  it.each([
    [['--new-contacts', 'unsubscribed'], false],
    [['--new-contacts', 'subscribed'], true],
    [['--subscribed', 'false'], false],
    [['--subscribed', 'true'], true],
    [['--subscribed'], true],
  ])('accepts %j', async (args, subscribed) => {
    expect((await importOf('people.csv', '--yes', ...args)).code).toBe(0);
    expect(states()).toEqual([
      ['bob', subscribed],
      ['carl', subscribed],
    ]);
  });

  it.each([
    [['--new-contacts', 'subscribed', '--subscribed', 'true'], 'not both'],
    [['--new-contacts', 'yes'], 'Allowed choices are subscribed, unsubscribed'],
    [['--subscribed', 'yes'], 'It must be true or false'],
  ])('rejects %j', async (args, words) => {
    const { code, stderr } = await refusalOf('people.csv', '--yes', ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });

  it.each([
    ['y\r', true],
    ['n\r', false],
  ])('asks in a terminal: %j', async (keys, subscribed) => {
    const terminal = inTerminal(['contacts', 'import', 'people.csv'], place());
    await terminal.until('Existing ones keep their state. [y/n]');
    terminal.type(keys);
    await terminal.until('Go on? [y/N]');
    terminal.type('y\r');
    expect(await terminal.ended).toBe(0);
    expect(states().map(([, state]) => state)).toEqual([subscribed, subscribed]);
  });

  it('does nothing if the question is not answered', async () => {
    const terminal = inTerminal(['contacts', 'import', 'people.csv'], place());
    await terminal.until('[y/n]');
    terminal.type('\r');
    expect(await terminal.ended).toBe(8);
    expect(states()).toEqual([]);
  });

  it('accepts a column with an inverted meaning, and its plan counts the values of the rows', async () => {
    const refused = await refusalOf('left.csv', '--new-contacts', 'subscribed', '--yes');
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringContaining('--columns "unsubscribed_at=not:subscribed"'),
    ]);
    const plain = await refusalOf('left.csv', '--columns', 'unsubscribed_at=subscribed', '--yes');
    expect([plain.code, plain.stderr]).toEqual([
      4,
      expect.stringContaining('Name it: --columns "unsubscribed_at=not:subscribed"'),
    ]);
    const args = ['--columns', 'unsubscribed_at=not:subscribed', '--new-contacts', 'unsubscribed'];
    const plan = await importOf('left.csv', ...args);
    expect(JSON.parse(plan.stdout)).toMatchObject({
      plan: {
        facts: {
          subscribed: '1 row says subscribed, 1 row says unsubscribed, 1 row says nothing',
          otherwise: 'new contacts are unsubscribed, existing contacts keep their state',
          wrong: '1 row',
          reasons: [expect.stringContaining('line 5: must be a date')],
        },
      },
    });
    const { code, stderr } = await refusalOf('left.csv', ...args, '--yes');
    expect(code).toBe(7);
    expect(stderr).toContain('line 5: must be a date');
    expect(stderr.match(/line \d+/g)).toEqual(['line 5']);
    expect(Object.fromEntries(states())).toEqual({ bob: false, carl: false, dee: true });
  });

  it('its plan explains the first three wrong rows, and says what applies to programs only', async () => {
    const rows = Array.from({ length: 5 }, (_, index) => `p${index}@example.com,left`);
    scene.write('words.csv', `email,Status\n${rows.join('\n')}\n`);
    const { stdout } = await importOf('words.csv', '--columns', 'Status=subscribed');
    const { facts } = (JSON.parse(stdout) as { plan: { facts: Record<string, unknown> } }).plan;
    expect(facts).toMatchObject({ wrong: '5 rows' });
    expect(facts['reasons']).toEqual(
      [2, 3, 4].map((line) => expect.stringMatching(`line ${line}: .* In a program, `) as string),
    );
  });

  it('begins with the row of --from, and names lines of the file', async () => {
    scene.write('some.csv', 'email,note\n\na@b.co,"x\ny"\nbob@localhost,x\nc@b.co,x\n');
    const args = ['some.csv', '--new-contacts', 'subscribed', '--from', '1'];
    const plan = await importOf(...args);
    expect(JSON.parse(plan.stdout)).toMatchObject({
      plan: { action: 'Import 2 contacts', facts: { rows: 3, from: 1 } },
    });
    const { code, stderr } = await refusalOf(...args, '--yes');
    expect([code, stderr]).toEqual([7, expect.stringMatching(/failed line 5: .*bob@localhost/)]);
    expect(states()).toEqual([['c', true]]);
  });
});

describe('postreel contacts export', () => {
  it('writes records: importing them subscribes nobody who has unsubscribed', async () => {
    const { messaging } = scene.server;
    messaging.seed({ contacts: 3 });
    expect((await piped(['contacts', 'export', 'all.csv', '--bom'], place())).code).toBe(0);
    const text = readFileSync(join(scene.folder, 'all.csv'), 'utf8');
    expect(text).toMatch(/^\uFEFFemail,subscribed,id,createdAt,updatedAt/);
    for (const contact of messaging.project.contacts.values()) {
      contact.subscribed = false;
    }
    const { code, stderr } = await importOf('all.csv', '--yes');
    expect([code, stderr]).toEqual([0, expect.stringContaining('contacts that were read')]);
    expect(states().map(([, state]) => state)).toEqual([false, false, false]);
  });

  it('has no byte-order mark without --bom', async () => {
    const { stdout } = await piped(['contacts', 'export'], place());
    expect(stdout).toMatch(/^email,subscribed,id,createdAt,updatedAt/);
  });
});
