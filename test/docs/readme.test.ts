import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents } from '../support/snippets.js';

const link = /\]\(([^)\s]+)\)/g;

/** The files of the repository that a page links to, with the part of the page. */
function linksIn(text: string, page: string): string[] {
  return [...text.matchAll(link)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(https?:|mailto:)/.test(target))
    .map((target) => (target.startsWith('#') ? page + target : join(dirname(page), target)));
}

describe('the documents', () => {
  it.each(documents())('link only to files that exist: %s', (path) => {
    const files = linksIn(readFileSync(path, 'utf8'), path).map((file) => file.replace(/#.*$/, ''));
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  it.each([
    ['the headers of an email', 'emails.md#headers'],
    ['escaping', 'emails.md#escaping'],
    ['resuming an import', 'contacts.md#resume-an-import'],
    ['unsubscribing', 'contacts.md#subscribe-and-unsubscribe'],
    ['double opt-in', 'recipes/double-opt-in.md'],
    ['time zones', 'campaigns.md#schedule-a-campaign'],
    ['several hosts', 'scale.md'],
    ['what costs money', 'media.md#what-it-costs'],
  ])('have %s at most two clicks from the list in the README', (_, target) => {
    const [, list = ''] = readFileSync('README.md', 'utf8').split('## Documentation');
    const first = linksIn(list, 'README.md');
    const second = first
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) => linksIn(readFileSync(path, 'utf8'), path));
    expect([...first, ...second]).toContain(`docs/${target}`);
  });

  it('are all named in the README', () => {
    const readme = readFileSync('README.md', 'utf8');
    const chapters = documents().filter((path) => /^docs\/[^/]+$/.test(path));
    expect(chapters.filter((path) => !readme.includes(`(${path})`))).toEqual([]);
  });
});
