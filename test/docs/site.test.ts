import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { brokenLinks } from '../../scripts/site/links.js';
import { documentPages, examplesPage } from '../../scripts/site/pages.js';
import { entryPoints } from '../../scripts/entry-points.js';
import { modules, modulesPage } from '../../scripts/site/reference.js';
import { slugify } from '../../site/.vitepress/markdown.js';
import { searchOptions } from '../../site/.vitepress/search.js';

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

describe('the search of the site', () => {
  it('puts guides and recipes before examples, and these before the reference', () => {
    const { boostDocument } = searchOptions;
    const [example, reference] = ['/examples/a.html', '/reference/postreel/interfaces/A.html'];
    expect(boostDocument('/recipes/consent.html')).toBe(boostDocument('/emails.html#attachments'));
    expect(boostDocument('/emails.html#attachments')).toBeGreaterThan(boostDocument(example));
    expect(boostDocument(example)).toBeGreaterThan(boostDocument(reference));
  });

  it('leaves out the decisions', () => {
    const decisions = documents.filter(({ path }) => path.startsWith('decisions/'));
    expect(decisions.length).toBeGreaterThan(0);
    expect(decisions.filter(({ text }) => !text.startsWith('---\nsearch: false\n'))).toEqual([]);
  });
});

describe('the first page of the reference', () => {
  it('has a sentence for each entry point, and `postreel` first', () => {
    const doors = entryPoints().map(({ name }) => name.replace(/^\.\/?/, '') || 'postreel');
    expect(modules.map(([name]) => name).sort()).toEqual(doors.sort());
    expect(/^- .*$/m.exec(modulesPage())?.[0]).toContain('[`postreel`]');
  });
});

describe('the check of a built site', () => {
  it('names links to missing pages and headings', () => {
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
