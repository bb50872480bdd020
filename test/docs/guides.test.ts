import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { home } from '../../scripts/site/home.js';
import { documentPages, examplesPage, type Page } from '../../scripts/site/pages.js';
import { guides, maintainers, sidebarOf } from '../../scripts/site/sidebar.js';

const documents = documentPages();
const pages = [home, ...documents, examplesPage(documents)];
const textOf = new Map(pages.map(({ path, text }) => [path.replace('.md', ''), text]));

// Tables and settings, which nobody copies as a program.
const tables = ['traps', 'runtimes', 'tracker-measured', 'agents'];
const programs = Object.entries(guides)
  .filter(([chapter]) => !['About', 'Details'].includes(chapter))
  .flatMap(([, names]) => names)
  .filter((name) => !tables.includes(name));

describe('a guide', () => {
  it.each(programs)('%s starts with code to copy', (name) => {
    const text = textOf.get(name) ?? '';
    const start = name === 'start' ? text : text.split('\n## ')[0];
    const [, language, code = ''] = /^```(\w+)\n([\s\S]*?)^```/m.exec(start ?? '') ?? [];
    expect(language).toMatch(/^(ts|tsx|html|sh)$/);
    expect(code).toMatch(/^(?:\/\/.*\n)*(import \S[\s\S]*'postreel|<script|npm |npx postreel )/);
  });
});

describe('the sidebar', () => {
  const users = Object.values(guides).flat();

  it('has every document once', () => {
    const listed = [...users, ...maintainers];
    const top = documents.map(({ path }) => path).filter((path) => !path.includes('/'));
    expect([...listed].sort()).toEqual(top.map((path) => path.replace('.md', '')).sort());
  });

  it("keeps maintainers' pages apart", () => {
    const sidebar = sidebarOf(pages);
    const own = ['contributing', 'versioning', 'tracker-protocol'];
    expect(maintainers).toEqual(expect.arrayContaining(own));
    const forUsers = JSON.stringify(sidebar['/']);
    expect(own.slice(1).filter((name) => forUsers.includes(`"/${name}"`))).toEqual([]);
    expect(forUsers).not.toContain('/decisions/');
    for (const name of [...own, 'decisions/']) {
      expect(JSON.stringify(sidebar[`/${name}`])).toContain('/decisions/001-route-tables');
    }
  });
});

it('the home page begins with the installation and a program', () => {
  const [, text = ''] = home.text.split(/^---\n/m).slice(1);
  const [install = -1, program = -1] = ['npm install', '```ts\nimport'].map((part) =>
    text.indexOf(part),
  );
  expect(install).toBeGreaterThan(0);
  expect(program).toBeGreaterThan(install);
});

it('every example says how to run it', () => {
  const examples = documents.filter(({ path }) => path.startsWith('examples/'));
  expect(examples.length).toBeGreaterThan(25);
  expect(examples.filter((page) => !saysHowToRun(page)).map(({ path }) => path)).toEqual([]);
});

function saysHowToRun({ text }: Page): boolean {
  return /^(\/\/| \*|npm|npx) ?.*\b(npx tsx|npx postreel|npm run|node --)/m.test(text);
}

it('the README names the pages in the order of the sidebar', () => {
  const readme = readFileSync('README.md', 'utf8');
  const named = [...readme.split('## Documentation')[1]!.matchAll(/\(docs\/([\w-]+)\.md\)/g)];
  const order = [...Object.values(guides).flat(), ...maintainers];
  expect(named.map(([, name]) => name)).toEqual(
    order.filter((name) => !['start', 'changelog', 'contributing'].includes(name)),
  );
});

it.each(pages)(
  'no command of $path ends with a comment, which zsh would pass as arguments',
  ({ text }) => {
    const commands = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
      .flatMap(([, code = '']) => code.split('\n'))
      .filter((line) => !line.startsWith('#'));
    expect(commands.filter((line) => line.includes(' #'))).toEqual([]);
  },
);

it.each(documents)('no secret of $path has a default that could reach production', ({ text }) => {
  expect(text).not.toMatch(/SECRET\w*['"]?\]?\s*(\?\?|\|\|)/);
});
