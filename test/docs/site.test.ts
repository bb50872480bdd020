import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { brokenLinks } from '../../scripts/site/links.js';
import { documentPages, examplesPage } from '../../scripts/site/pages.js';
import { slugify } from '../../site/.vitepress/markdown.js';

// `npm run site` builds all of it and checks the result; these are the parts that take no time.
const documents = documentPages();
const pages = new Map(
  [...documents, examplesPage(documents)].map(({ path, text }) => [`/${path}`, text]),
);
const folder = mkdtempSync(join(tmpdir(), 'postreel-site-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the pages of the site', () => {
  it.each([...pages])('%s links only to pages and headings that exist', (path, text) => {
    expect(linksOf(text).filter((link) => !leads(link, path))).toEqual([]);
  });

  it('show one drawing instead of its source', () => {
    expect(pages.get('/tracker-protocol.md')).toContain('](/images/tracker-protocol.svg)');
  });
});

describe('the check of a built site', () => {
  it('names links to pages and headings that are not there', () => {
    mkdirSync(join(folder, 'guides'));
    writeFileSync(
      join(folder, 'index.html'),
      '<h1 id="top">A</h1><a href="/guides/b.html#here">b</a>',
    );
    const page = '<a href="../index.html#top">fine</a><a href="#gone">x</a><a href="/c.html">c</a>';
    writeFileSync(join(folder, 'guides/b.html'), page);
    expect(brokenLinks(folder).sort()).toEqual([
      'guides/b.html: #gone leads nowhere',
      'guides/b.html: /c.html leads nowhere',
      'index.html: /guides/b.html#here leads nowhere',
    ]);
  });
});

function linksOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`]*`/g, '');
  const links = [...prose.matchAll(/(?<!!)\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, to = '']) => to);
  return links.filter((link) => !/^(https?:|mailto:|\/reference\/)/.test(link));
}

function leads(link: string, from: string): boolean {
  const [path = '', anchor] = link.split('#');
  const text = pages.get(path === '' ? from : path);
  return text !== undefined && (!anchor || headingsOf(text).includes(anchor));
}

function headingsOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) => slugify(title));
}
