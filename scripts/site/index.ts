/**
 * Builds the site into `site/dist`: `npm run site`. It fails on a warning, on a link that leads
 * nowhere, and on a method that the search does not find.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'vitepress';
import { problemsOf } from './check/index.js';
import { home } from './home.js';
import { documentPages, examplesPage, type Page } from './pages.js';
import { referencePages } from './reference/pages.js';
import { sidebarOf } from './sidebar.js';
import { writeTexts } from './texts.js';

const source = 'site/pages';
const target = 'site/dist';

const warnings: string[] = [];
for (const name of ['warn', 'error'] as const) {
  const write = console[name].bind(console);
  console[name] = (...words: unknown[]) => {
    warnings.push(words.map(String).join(' '));
    write(...words);
  };
}

const pages = await allPages();
stage(pages);
await build('site');
writeTexts(pages, target);
const problems = [...warnings, ...(await problemsOf(target))];
console.log(`${pages.length} pages in ${target}, ${problems.length} problems`);
problems.forEach((problem) => console.log(`- ${problem}`));
process.exitCode = problems.length === 0 ? 0 : 1;

async function allPages(): Promise<Page[]> {
  const documents = documentPages();
  const reference = (await referencePages()).map(({ path, text }) => ({
    path: `reference/${path}.md`,
    text,
  }));
  return [home, ...documents, examplesPage(documents), ...reference];
}

function stage(all: readonly Page[]): void {
  rmSync(source, { recursive: true, force: true });
  rmSync(target, { recursive: true, force: true });
  for (const { path, text } of all) {
    const file = join(source, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  cpSync('docs/images', join(source, 'public/images'), { recursive: true });
  cpSync('docs/trace.svg', join(source, 'public/images/trace.svg'));
  writeFileSync(join(source, 'sidebar.json'), JSON.stringify(sidebarOf(all)));
}
