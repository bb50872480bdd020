import { readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { FakeServer } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { withServices } from '../support/scripts.js';

interface Left {
  readonly server: FakeServer;
  readonly output: string;
  readonly folder: string;
  /** The contact with this email. */
  readonly contact: (email: string) => object | undefined;
}

interface Line {
  /** The files that it reads. */
  readonly files?: Readonly<Record<string, string>>;
  readonly has: (left: Left) => void | Promise<void>;
}

const sentence = 'It was a dark and stormy night. ';
const saves =
  (...names: readonly string[]): Line['has'] =>
  async ({ folder, server }) => {
    expect(await readdir(folder, { recursive: true })).toEqual(expect.arrayContaining([...names]));
    expect(server.media.files).toHaveLength(names.length);
  };

/** The command lines of the page, and what each does after a yes; a text says why one is not run here. */
const lines: Readonly<Record<string, Line | string>> = {
  'npx postreel fake --env .env': 'test/package/readme.test.ts runs it',
  "npx postreel send --from shop@example.com --to ann@example.com --subject Hi --body '<p>Hi</p>'":
    {
      has: ({ server }) =>
        expect(server.messaging.outbox).toMatchObject([
          { to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' },
        ]),
    },
  'npx tsx node_modules/postreel/dist/cli.js workflows draw flow.ts': {
    files: { 'flow.ts': readFileSync('examples/24-workflow-as-code.ts', 'utf8') },
    has: ({ output }) => expect(output).toMatch(/^flowchart TD\n/),
  },
  "npx postreel contacts list --all | jq -r 'select(.subscribed) | .email'": {
    has: ({ output }) => {
      const contacts = output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
      expect(contacts).toHaveLength(122);
      expect(contacts).toContainEqual(
        expect.objectContaining({ email: 'ann@example.com', subscribed: true }),
      );
    },
  },
  "npx postreel contacts import people.csv --new-contacts unsubscribed --columns 'Address=email' --columns 'Notes='":
    {
      files: { 'people.csv': 'Address,Notes,plan\nzoe@example.com,x,pro\n' },
      has: ({ contact }) =>
        expect(contact('zoe@example.com')).toMatchObject({
          subscribed: false,
          data: { plan: 'pro' },
        }),
    },
  "npx postreel contacts import people.csv --columns 'Opted out=not:subscribed'": {
    files: { 'people.csv': 'email,Opted out\nann@example.com,yes\nzoe@example.com,no\n' },
    has: ({ contact }) => {
      expect(contact('ann@example.com')).toMatchObject({ subscribed: false });
      expect(contact('zoe@example.com')).toMatchObject({ subscribed: true });
    },
  },
  'npx postreel contacts export contacts.csv --bom': {
    has: async ({ folder }) => {
      const text = await readFile(join(folder, 'contacts.csv'), 'utf8');
      expect(text).toMatch(/^\uFEFFemail,subscribed,id,createdAt,updatedAt,/);
      expect(text.trim().split('\n')).toHaveLength(123);
    },
  },
  "npx postreel video --idea 'Why cats purr' --voice voice_1 --out cats.mp4": {
    has: saves('cats.mp4'),
  },
  'npx postreel audio --file article.txt --voice voice_1 --out article.mp3': {
    files: { 'article.txt': sentence },
    has: saves('article.mp3'),
  },
  'npx postreel audio --file book.txt --voice voice_1 --out book/': {
    files: { 'book.txt': sentence.repeat(400) },
    has: saves('book/file_000001.mp3', 'book/file_000002.mp3'),
  },
  'npx postreel fake --env .env --seed 100': 'test/cli/fake.test.ts runs it',
};

describe('the command lines of docs/cli.md', () => {
  it('are all in the table', () => {
    const blocks = readFileSync('docs/cli.md', 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm);
    const pasted = [...blocks].flatMap(([, code = '']) => code.trim().split('\n'));
    expect(Object.keys(lines)).toEqual(pasted);
  });

  it.concurrent.each(Object.entries(lines).filter(([, line]) => typeof line !== 'string'))(
    '%s',
    async (pasted, line) => {
      const { files = {}, has } = line as Line; // as: those without a reason
      const [, ...words] = pasted.split(' | ')[0]?.match(/'[^']*'|\S+/g) ?? [];
      const [program, ...args] = words.map((word) => word.replace(/^'(.*)'$/, '$1'));
      const command = resolve('dist/cli.js');
      await withServices(async (run, server, folder) => {
        for (const [name, text] of Object.entries(files)) {
          await writeFile(join(folder, name), text);
        }
        const asks = /^(send|import|video|audio)$/;
        const { code, output } =
          program === 'tsx'
            ? await run([resolve('node_modules/tsx/dist/cli.mjs'), command, ...args.slice(1)])
            : await run([
                command,
                ...args,
                ...(args.some((arg) => asks.test(arg)) ? ['--yes'] : []),
              ]);
        expect(code, output).toBe(0);
        const { contacts } = server.messaging.project;
        await has({
          server,
          output,
          folder,
          contact: (email) => [...contacts.values()].find((one) => one.email === email),
        });
      });
    },
  );
});
