import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEndpoints, page, readEndpoints } from '../../scripts/endpoints.js';
import { TreeCopy, type Addition } from '../support/contract/tree-copy.js';

type Piece = 'row' | 'type' | 'schema' | 'method' | 'fake';

/** Everything that a new endpoint needs, by the name of the place. */
const pieces: Record<Piece, readonly Addition[]> = {
  row: [
    {
      file: 'src/messaging/contacts.ts',
      after: 'export const routes = {\n',
      text: "  notes: route('GET /contacts/{id}/notes', { returns: ofType<ContactNotes>() }),\n",
    },
    {
      file: 'src/messaging/contacts.ts',
      after: '  ContactLookupResult,\n',
      text: '  ContactNotes,\n',
    },
  ],
  type: [
    {
      file: 'src/messaging/contacts.types.ts',
      text: '\n/** What colleagues wrote about a contact. */\nexport interface ContactNotes extends OpenRecord {\n  notes: string[];\n}\n',
    },
  ],
  schema: [
    {
      file: 'src/messaging/contacts.schemas.ts',
      after: '  get: { returns: contact },\n',
      text: '  notes: { returns: z.looseObject({ notes: z.array(z.string()) }) },\n',
    },
  ],
  method: [
    {
      file: 'src/messaging/contacts.ts',
      after:
        'this.#transport.send(routes.get, { params: { id } }, options) as Call<Contact<Fields>>; // as: typed for any fields\n  }\n',
      text: `
  /** Gets the notes about a contact. */
  notes(id: string, options?: RequestOptions): Call<ContactNotes> {
    return this.#transport.send(routes.notes, { params: { id } }, options);
  }
`,
    },
  ],
  fake: [
    {
      file: 'src/testing/messaging/contacts.ts',
      after: "  'POST /contacts': create,\n",
      text: "  'GET /contacts/{id}/notes': () => ({ body: { notes: [] } }),\n",
    },
  ],
};

const wireTable: Addition = {
  file: 'src/testing/endpoints.json',
  after: '[\n',
  text: `  {"service": "messaging", "method": "GET", "path": "/contacts/{id}/notes", "sdk": "messaging.contacts.notes", "key": "secret", "enveloped": false, "repeatable": true},\n`,
};
const places = ['contacts', 'contacts.types', 'contacts.schemas'].map(
  (name) => `src/messaging/${name}.ts`,
);

let copy: TreeCopy;
beforeAll(() => {
  copy = new TreeCopy('new-endpoint', [
    'src',
    'scripts',
    'docs',
    'test/contract',
    'test/docs',
    'test/support',
    'README.md',
    'CHANGELOG.md',
    'package.json',
    'tsconfig.json',
    'tsconfig.base.json',
    '.prettierrc.json',
  ]);
  copy.add([wireTable]);
});
afterAll(() => {
  copy.remove();
});

/** Works in a tree that has the endpoint in all places but one. */
async function without<T>(missing: Piece | undefined, work: () => T | Promise<T>): Promise<T> {
  const present = Object.entries(pieces).filter(([name]) => name !== missing);
  const undo = copy.add(present.flatMap(([, additions]) => additions));
  try {
    return await work();
  } finally {
    undo();
  }
}

const contract = ['test/contract/endpoints.test.ts', 'test/contract/fake.test.ts'];
const askContract = () => copy.test(contract, 'contacts.notes');

describe('an endpoint that the service gains', { timeout: 180_000 }, () => {
  it('passes when it stands in every place', async () => {
    expect(await without(undefined, () => copy.typeErrors(places))).toEqual([]);
    expect(await without(undefined, askContract)).toMatchObject({ passed: true });
  });

  it.each<[Piece, RegExp]>([
    ['type', /no exported member.*ContactNotes/],
    ['schema', /Property 'notes' is missing/],
    ['method', /Class 'Contacts(<Fields>)?' incorrectly implements/],
  ])('does not compile without its %s', async (missing, complaint) => {
    const errors = await without(missing, () => copy.typeErrors(places));
    expect(errors.join('\n')).toMatch(complaint);
  });

  it.each<[Piece, RegExp]>([
    ['row', /has a row with the facts of the table/],
    ['fake', /agree on what is asked and answered/],
  ])('fails the contract tests without its %s', async (missing, complaint) => {
    const { passed, output } = await without(missing, askContract);
    expect(output).toMatch(complaint);
    expect(passed).toBe(false);
  });

  it('is missed in the documents', async () => {
    const ask = () => copy.test(['test/docs/endpoints.test.ts'], 'the documents');
    const before = await ask();
    expect(before.passed).toBe(false);
    const titles = ['list the method', 'endpoints in README.md', 'endpoints in CHANGELOG.md'];
    for (const title of titles) {
      expect(before.output).toMatch(new RegExp(`×.*${title}`));
    }
    const endpoints = readEndpoints(copy.folder);
    copy.write(page, await describeEndpoints(endpoints));
    for (const file of ['README.md', 'CHANGELOG.md']) {
      const counted = `${endpoints.length} endpoints`;
      copy.write(file, copy.read(file).replace(/\b\d+ endpoints/, counted));
    }
    expect(await ask()).toMatchObject({ passed: true });
  });

  it('is missed in the list of open records', async () => {
    const ask = () => copy.test(['test/docs/open-records.test.ts'], 'open type');
    await without(undefined, async () => {
      expect(await ask()).toMatchObject({ passed: false });
      await runScript('scripts/open-records.ts');
      expect(copy.read('docs/open-records.md')).toContain('`ContactNotes`');
      expect(await ask()).toMatchObject({ passed: true });
    });
  });
});

/** Runs a script of the copy. */
async function runScript(script: string): Promise<void> {
  const args = ['--import', 'tsx', resolve(copy.folder, script)];
  await promisify(execFile)(process.execPath, args, { cwd: copy.folder });
}
