import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { titleOf, type Page } from './pages.js';

/** Puts each page as plain Markdown beside its HTML, and `llms.txt`, which lists the documents. */
export function writeTexts(documents: readonly Page[], source: string, target: string): void {
  const paths = readdirSync(source, { recursive: true, encoding: 'utf8' });
  for (const path of paths.filter((name) => name.endsWith('.md'))) {
    writeFileSync(join(target, path), plain(readFileSync(join(source, path), 'utf8')));
  }
  writeFileSync(join(target, 'llms.txt'), llms(documents));
}

/** Without what only VitePress reads. */
function plain(text: string): string {
  return text.replace(/^---\n[\s\S]*?\n---\n+/, '').replace(/ \{#[\w-]+\}$/gm, '');
}

function llms(pages: readonly Page[]): string {
  const list = (title: string, isIn: (path: string) => boolean) => {
    const rows = pages
      .filter(({ path }) => isIn(path))
      .map(({ path, text }) => `- [${titleOf(text)}](/${path})`);
    return `## ${title}\n\n${rows.join('\n')}`;
  };
  const intro = `# Postreel

> A TypeScript library that sends email and makes videos: a typed client for a messaging service and one
> for a media service. It never sends an email or bills a video twice, and stays within rate limits.

Each page is also there as Markdown, under the address of its HTML with \`.md\` at the end.`;
  return `${[
    intro,
    list('Guides', (path) => !path.includes('/') && path !== 'index.md'),
    list('Recipes', (path) => path.startsWith('recipes/')),
    '## Reference\n\n- [Every public name](/reference/index.md)',
    list('Examples', (path) => path.startsWith('examples/')),
  ].join('\n\n')}\n`;
}
