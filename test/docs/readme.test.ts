import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents } from '../support/snippets.js';

const link = /\]\(([^)\s]+)\)/g;

describe('the documents', () => {
  it.each(documents())('link only to files that exist: %s', (path) => {
    const targets = [...readFileSync(path, 'utf8').matchAll(link)].map(([, target = '']) => target);
    const files = targets
      .filter((target) => !/^(https?:|mailto:|#)/.test(target))
      .map((target) => join(dirname(path), target.replace(/#.*$/, '')));
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('are all named in the README', () => {
    const readme = readFileSync('README.md', 'utf8');
    const chapters = documents().filter((path) => /^docs\/[^/]+$/.test(path));
    expect(chapters.filter((path) => !readme.includes(`(${path})`))).toEqual([]);
  });
});
