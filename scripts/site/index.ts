/** Builds the site into `site/dist`: `npm run site`. It fails on a warning and on a broken link. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'vitepress';
import { home } from './home.js';
import { brokenLinks } from './links.js';
import { documentPages, examplesPage, type Page } from './pages.js';
import { orderOf, writeReference } from './reference.js';
import { sidebarOf, withLinks, type Item } from './sidebar.js';
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

const documents = documentPages();
const pages = [home, ...documents, examplesPage(documents)];
rmSync(source, { recursive: true, force: true });
rmSync(target, { recursive: true, force: true });
stage(pages);
await writeReference(source);
const reference = readFileSync(join(source, 'reference/typedoc-sidebar.json'), 'utf8');
const entries = JSON.parse(reference) as Item[]; // as typedoc-vitepress-theme writes it
entries.sort((one, other) => orderOf(one.text) - orderOf(other.text));
const sidebar = { ...sidebarOf(pages), '/reference/': entries.map((entry) => withLinks(entry)) };
writeFileSync(join(source, 'sidebar.json'), JSON.stringify(sidebar));
await build('site');
writeTexts(pages, source, target);

const problems = [...warnings, ...brokenLinks(target)];
problems.forEach((problem) => console.log(`- ${problem}`));
console.log('Open it with `npx vitepress preview site`, at http://localhost:4173/');
console.log(`${pages.length} pages and the reference in ${target}, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function stage(all: readonly Page[]): void {
  for (const { path, text } of all) {
    const file = join(source, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  cpSync('docs/images', join(source, 'public/images'), { recursive: true });
  cpSync('docs/trace.svg', join(source, 'public/images/trace.svg'));
}
