import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasColors, inTerminal, piped } from '../support/cli/command.js';
import { flow, startScene, type Scene } from '../support/cli/scene.js';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
  scene.write('people.csv', 'email,plan\nbob@example.com,pro\n"carl@example.com",free\n');
  scene.write('flow.mjs', flow);
});
const folders: string[] = [];
afterAll(async () => {
  folders.forEach((folder) => rmSync(folder, { recursive: true }));
  await scene.server.close();
});
beforeEach(() => {
  scene.server.messaging.reset();
  scene.server.messaging.seed({ contacts: 3 });
});

const email = ['send', '--from', 'shop@example.com', '--to', 'ann@example.com', '--subject', 'Hi'];
const send = [...email, '--body', '<p>Hi</p>'];
const importPeople = ['contacts', 'import', 'people.csv', '--new-contacts', 'subscribed'];
const place = () => ({ env: scene.env, cwd: scene.folder });

describe('in a terminal', () => {
  it.each([
    ['send', [...send, '--yes'], 'sent ann@example.com'],
    ['track', ['track', 'ann@example.com', 'signed_up', '--yes'], 'tracked signed_up of ann@'],
    ['verify', ['verify', 'ann@example.com'], 'valid  ann@example.com'],
    ['contacts import', [...importPeople, '--yes'], 'imported 2 rows'],
    ['workflows deploy', ['workflows', 'deploy', 'flow.mjs', '--yes'], 'deployed '],
  ])(
    'postreel %s reports what it did, in color only if the terminal has colors',
    async (_name, args, said) => {
      const colored = inTerminal(args, { ...place(), columns: 100 });
      expect([await colored.ended, colored.text]).toEqual([0, expect.stringContaining(said)]);
      expect(hasColors(colored.written)).toBe(true);
      scene.server.messaging.reset();
      const env = { ...scene.env, NO_COLOR: '1' };
      const plain = inTerminal(args, { ...place(), env, columns: 40 });
      expect([await plain.ended, plain.text]).toEqual([0, expect.stringContaining(said)]);
      expect(hasColors(plain.written)).toBe(false);
    },
  );

  it.each([
    ['people.csv', 'Import 2 contacts:', 'columns: email, plan'],
    ['one.csv', 'Import 1 contact:', 'rows: 1'],
  ])('the plan of an import names its columns: %s', async (file, ...said) => {
    scene.write('one.csv', 'email\nbob@example.com\n');
    const args = ['--no-json', 'contacts', 'import', file, '--new-contacts', 'subscribed'];
    const { code, stdout } = await piped(args, place());
    expect(code).toBe(8);
    said.forEach((line) => expect(stdout).toContain(line));
  });

  it.each([
    ['mails.csv', 4, 'There is no column `email`.'],
    ['none.csv', 1, 'There is no such file: none.csv'],
    ['.', 1, 'This is a folder'],
  ])('an import of %s ends before anything is uploaded', async (file, ends, said) => {
    scene.write('mails.csv', 'mail,name\nbob@example.com,Bob\n');
    const { requests } = scene.server.messaging;
    const before = requests.length;
    const args = ['--no-json', 'contacts', 'import', file, '--yes'];
    const { code, stderr } = await piped(args, place());
    expect([code, stderr]).toEqual([ends, expect.stringContaining(said)]);
    expect(scene.server.messaging.requests.length).toBe(before);
  });

  it('verify gives a malformed address a verdict too, and an exit code', async () => {
    const args = ['--no-json', 'verify', 'no address', 'ann@example.com'];
    const { code, stdout } = await piped(args, place());
    expect(code).toBe(9);
    expect(stdout).toContain('invalid  no address  is not an email address\nvalid  ann@');
  });

  it.each([['contacts list', ['contacts', 'list'], ['Email', 'contact-']]])(
    'the table of postreel %s fits the width',
    async (_name, args, words) => {
      for (const columns of [120, 40]) {
        const terminal = inTerminal(args, { ...place(), columns });
        expect(await terminal.ended).toBe(0);
        words.forEach((word) => expect(terminal.text).toContain(word));
        expect(
          Math.max(...terminal.text.split('\n').map(({ length }) => length)),
        ).toBeLessThanOrEqual(columns);
      }
    },
  );

  it('postreel contacts export writes a file that can be imported again, and overwrites nothing', async () => {
    const args = ['contacts', 'export', 'out.csv'];
    const first = inTerminal(args, place());
    expect([await first.ended, first.text]).toEqual([0, 'wrote 3 contacts to out.csv\n']);
    expect(readFileSync(join(scene.folder, 'out.csv'), 'utf8')).toMatch(
      /^email,subscribed,id,createdAt,updatedAt,?/,
    );
    const { requests } = scene.server.messaging;
    const before = requests.length;
    const second = inTerminal(args, place());
    expect([await second.ended, second.text]).toEqual([1, expect.stringContaining('--force')]);
    expect(requests.length).toBe(before);
  });

  it('an export has no text that a spreadsheet would run, and prints a note about it', async () => {
    const [contact] = scene.server.messaging.project.contacts.values();
    const texts = {
      link: '=HYPERLINK("https://eve.example.com")',
      at: '@SUM(1)',
      phone: '+49 171 123',
      minus: -5,
      plan: 'pro',
    };
    Object.assign(contact!.data, texts);
    const { code, stdout, stderr } = await piped(['contacts', 'export', '--no-json'], place());
    expect([code, stderr]).toEqual([0, expect.stringMatching(/`link`, `at`: some texts .* --raw/)]);
    expect(stdout).toContain(
      `"'=HYPERLINK(""https://eve.example.com"")",'@SUM(1),+49 171 123,-5\n`,
    );
    const raw = await piped(['contacts', 'export', '--raw', '--no-json'], place());
    expect(raw.stdout).toContain('"=HYPERLINK(""https://eve.example.com"")",@SUM(1),');
    expect(raw.stderr).not.toContain('--raw');
  });

  it('an import reads headers as the SDK does, and --columns maps the others', async () => {
    scene.write('exported.csv', '\uFEFFE-Mail;Plan;Notes\nbob@example.com;pro;x\n');
    const args = [
      'contacts',
      'import',
      'exported.csv',
      '--columns',
      'plan=tier',
      '--columns',
      'Notes=',
      '--new-contacts',
      'subscribed',
    ];
    const plan = await piped(['--no-json', ...args], place());
    expect([plan.code, plan.stdout]).toEqual([
      8,
      expect.stringContaining('become: plan: tier, Notes: dropped'),
    ]);
    const { code, stdout } = await piped([...args, '--yes'], place());
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { done: 1 }]);
    const { contacts } = scene.server.messaging.project;
    const bob = [...contacts.values()].find(({ email: address }) => address === 'bob@example.com');
    expect(bob?.data).toEqual({ tier: 'pro' });
    const missing = await piped(
      ['contacts', 'import', 'exported.csv', '--columns', 'No=x'],
      place(),
    );
    expect([missing.code, missing.stderr]).toEqual([
      4,
      expect.stringContaining('there is no such column'),
    ]);
  });

  it('a wait reports that its checks fail', async () => {
    scene.server.messaging.fail('GET /contacts/import/{jobId}', { status: 503, times: 2 });
    const args = ['--no-json', ...importPeople, '--yes'];
    const { code, stderr } = await piped(args, place());
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/warning: A check of the import fails, and is made again: .*503/),
    ]);
  });

  it('postreel pull writes types, and --check fails once the project has drifted', async () => {
    expect((await piped(['pull', 'types.ts'], place())).code).toBe(0);
    expect(readFileSync(join(scene.folder, 'types.ts'), 'utf8')).toContain('interface Fields');
    expect((await piped(['pull', 'types.ts', '--check'], place())).code).toBe(0);
    const change = ['track', 'ann@example.com', 'left', '--data', 'nickname=Annie', '--yes'];
    expect((await piped(change, place())).code).toBe(0);
    const drifted = await piped(['pull', 'types.ts', '--check'], place());
    expect(drifted.code).toBe(9);
    expect(drifted.stdout).toContain('nickname: string;');
  });

  it.each([
    ['workflows draw', ['workflows', 'draw', 'flow.mjs'], 'flowchart'],
    ['contacts export', ['contacts', 'export'], 'email,subscribed,id,createdAt,updatedAt'],
    ['pull', ['pull', 'types.ts'], 'types.ts'],
    ['completion', ['completion', 'bash'], '_postreel'],
    ['jobs pending', ['jobs', 'pending'], 'No jobs.'],
  ])('postreel %s prints the same with and without color and width', async (_name, args, word) => {
    const env = { ...scene.env, NO_COLOR: '1' };
    const wide = inTerminal(args, { ...place(), columns: 120 });
    const plain = inTerminal(args, { ...place(), env, columns: 40 });
    expect([await wide.ended, await plain.ended]).toEqual([0, 0]);
    expect(wide.text).toContain(word);
    expect(plain.text).toBe(wide.text);
  });
});

describe('a plan', () => {
  it.each([
    ['y\r', 0, 1],
    ['n\r', 8, 0],
    ['\r', 8, 0],
    ['\u0003', 8, 0],
  ])('needs a yes in a terminal: after %j nothing happens', async (keys, code, sent) => {
    const terminal = inTerminal(send, place());
    await terminal.until('Go on? [y/N]');
    expect(terminal.text).toContain('Send 1 email:\n  to: ann@example.com');
    expect(scene.server.messaging.outbox).toHaveLength(0);
    terminal.type(keys);
    expect(await terminal.ended).toBe(code);
    expect(scene.server.messaging.outbox).toHaveLength(sent);
  });

  it.each([
    ['send', send],
    ['track', ['track', 'ann@example.com', 'signed_up']],
    ['contacts import', importPeople],
    ['workflows deploy', ['workflows', 'deploy', 'flow.mjs']],
  ])('of %s is only printed without a terminal and --yes', async (_name, args) => {
    const { code, stdout, stderr } = await piped(args, place());
    expect(code).toBe(8);
    expect(JSON.parse(stdout)).toMatchObject({ confirmed: false });
    expect(stderr).toContain('Add --yes');
    const changing = scene.server.messaging.requests.filter(({ method }) => method !== 'GET');
    expect(changing).toEqual([]);
  });
});

describe('a file with a workflow', () => {
  const typed = (event: string) => `
import { defineWorkflow } from 'postreel';
interface Step { readonly type: 'EXIT' }
const end: Step = { type: 'EXIT' };
export const flow = defineWorkflow({ name: 'Typed', trigger: { event: ${event} }, steps: { end } });
`;
  const tsx = ['--import', import.meta.resolve('tsx')];

  const links = readFileSync('docs/cli.md', 'utf8').matchAll(/\[example\]\(\.\.\/(.+?)\)/g);
  it.each([...new Set([...links].map(([, path = '']) => path))])(
    'that cli.md links only exports a definition: drawing it calls no service (%s)',
    async (path) => {
      const args = ['workflows', 'draw', resolve(path)];
      const { code, stdout, stderr } = await piped(args, { env: scene.env, node: tsx });
      expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('flowchart')]);
      expect(scene.server.messaging.requests).toEqual([]);
    },
  );

  it('sees the variables of .env, unless the environment sets them', async () => {
    const cwd = inRepository();
    const { MESSAGING_BASE_URL = '', MESSAGING_API_KEY = '' } = scene.env;
    const lines = { MESSAGING_BASE_URL, MESSAGING_API_KEY, FIRST: 'of_file', SECOND: 'of_file' };
    const dotenv = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(cwd, '.env'), dotenv.join(''));
    const event =
      'process.env.FIRST + process.env.SECOND + process.env.MESSAGING_API_KEY?.slice(0, 3)';
    writeFileSync(join(cwd, 'flow.mjs'), flow.replace("'signed_up'", event));
    const drawn = await piped(['workflows', 'draw', 'flow.mjs'], { cwd, env: { SECOND: '_set' } });
    expect(drawn.stdout).toContain('of_file_setsk_');
    expect((await piped(['workflows', 'deploy', 'flow.mjs', '--yes'], { cwd })).code).toBe(0);
    const [workflow] = scene.server.messaging.project.workflows.values();
    expect(JSON.stringify(workflow)).toContain('of_fileof_filesk_');
  });

  it('in TypeScript is loaded as the error on Node 20 advises, with the variables of .env', async () => {
    const cwd = inRepository();
    writeFileSync(join(cwd, '.env'), 'EVENT=from_env\n');
    writeFileSync(join(cwd, 'flow.ts'), typed("process.env['EVENT'] ?? ''"));
    const args = ['workflows', 'draw', 'flow.ts'];
    const plain = await piped(args, { cwd });
    const said = 'npx tsx node_modules/postreel/dist/cli.js workflows';
    expect([0, 1]).toContain(plain.code);
    expect(plain.code === 0 || plain.stderr.includes(said)).toBe(true);
    const { code, stdout } = await piped(args, { cwd, node: tsx });
    expect([code, stdout]).toEqual([0, expect.stringContaining('from_env')]);
  });
});

/** A folder in which `postreel` means this package. */
function inRepository(): string {
  mkdirSync('test/.tmp', { recursive: true });
  const folder = mkdtempSync(resolve('test/.tmp/flow-'));
  folders.push(folder);
  return folder;
}

describe('stdout', () => {
  it.each([
    ['contacts list', ['contacts', 'list']],
    ['verify', ['verify', 'ann@example.com']],
    ['status', ['status']],
  ])('of %s has results only, whatever is logged', async (_name, args) => {
    const env = { ...scene.env, POSTREEL_LOG: 'debug' };
    const { code, stdout, stderr } = await piped(args, { ...place(), env });
    expect(code).toBe(0);
    stdout
      .trim()
      .split('\n')
      .forEach((line) => expect(() => JSON.parse(line) as unknown).not.toThrow());
    expect(stderr).toMatch(/GET|POST/);
  });
});

describe('without a terminal', () => {
  it('the result is JSON: one line for each contact', async () => {
    const { code, stdout } = await piped(['contacts', 'list'], place());
    const lines = stdout.trim().split('\n');
    expect([code, lines.length]).toEqual([0, 3]);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      subscribed: expect.any(Boolean) as boolean,
    });
  });

  it('--no-json gives text, and --json gives JSON in a terminal', async () => {
    const text = await piped(['contacts', 'list', '--no-json'], place());
    expect(text.stdout).toMatch(/^Email +Subscribed/);
    const terminal = inTerminal(['--json', 'verify', 'ann@example.com'], place());
    expect(await terminal.ended).toBe(0);
    expect(JSON.parse(terminal.text)).toMatchObject({ email: 'ann@example.com' });
  });

  it('the body of an email may come from stdin', async () => {
    const options = { ...place(), input: '<p>From a pipe</p>' };
    const { code } = await piped([...email, '--body-file', '-', '--yes'], options);
    expect(code).toBe(0);
    expect(scene.server.messaging.outbox[0]?.body).toBe('<p>From a pipe</p>');
  });

  it.each([
    ['UTF-8 with a mark', Buffer.from('\uFEFF<p>Hé</p>')],
    ['UTF-16, as PowerShell writes it', Buffer.from('\uFEFF<p>Hé</p>', 'utf16le')],
  ])('the body of an email may be in %s, from a file and from stdin', async (_, bytes) => {
    writeFileSync(join(scene.folder, 'body.html'), bytes);
    for (const path of ['body.html', '-']) {
      await piped([...email, '--body-file', path, '--yes'], { ...place(), input: bytes });
    }
    const { outbox } = scene.server.messaging;
    expect(outbox.map(({ body }) => body)).toEqual(['<p>Hé</p>', '<p>Hé</p>']);
  });

  it('values of --data are parsed as JSON if that loses nothing', async () => {
    const texts = {
      zip: '01234',
      phone: '49170123456789012345',
      version: '1.10',
      code: '1e3',
      delta: '-0',
    };
    const given = Object.entries({ seats: 3, vip: true, ...texts });
    const data = given.flatMap(([name, value]) => ['--data', `${name}=${value}`]);
    await piped(['track', 'zoe@example.com', 'signed_up', ...data, '--yes'], place());
    const event = scene.server.messaging.project.events.find(({ name }) => name === 'signed_up');
    expect(event?.data).toEqual({ seats: 3, vip: true, ...texts });
  });

  it('workflows deploy changes nothing the second time', async () => {
    const args = ['workflows', 'deploy', 'flow.mjs', '--enable', '--yes'];
    expect((await piped(args, place())).code).toBe(0);
    const { code, stdout } = await piped(args, place());
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { operations: [] }]);
  });

  it('workflows deploy --enable names the version that it disables, and leaves other workflows unchanged', async () => {
    scene.write('changed.mjs', flow.replace("subject: 'Tips'", "subject: 'More tips'"));
    expect(
      (await piped(['workflows', 'deploy', 'flow.mjs', '--enable', '--yes'], place())).code,
    ).toBe(0);
    const [old] = scene.server.messaging.project.workflows.values();
    const args = ['--no-json', 'workflows', 'deploy', 'changed.mjs', '--enable'];
    const plan = await piped(args, place());
    expect([plan.code, plan.stdout]).toEqual([8, expect.stringContaining(`disables ${old?.id}`)]);
    expect(old?.enabled).toBe(true);
    expect((await piped([...args, '--yes'], place())).code).toBe(0);
    expect(old?.enabled).toBe(false);
    Object.assign(old ?? {}, { name: 'Onboarding', enabled: true });
    const refused = await piped(['workflows', 'deploy', 'flow.mjs', '--yes'], place());
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('replaces')]);
  });
});
