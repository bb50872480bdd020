import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';

const script = readFileSync('dist/tracker.global.js', 'utf8');

describe('the script-tag build', () => {
  it('has the integrity hash that the document gives', () => {
    const hash = 'sha384-' + createHash('sha384').update(script).digest('base64');
    const given = /integrity="([^"]+)"/.exec(readFileSync('docs/tracker.md', 'utf8'))?.[1];
    expect(given).toBe(hash);
  });
  it('sets one global and touches no other', () => {
    const page = createContext({});
    runInContext(script, page);
    expect(Object.keys(page)).toEqual(['postreelTracker']);
    expect(runInContext('Object.keys(postreelTracker)', page)).toEqual([
      'createTracker',
      'transient',
    ]);
  });
  it('can be reached by the name of the package', () => {
    const path = createRequire(import.meta.url).resolve('postreel/tracker.global.js');
    expect(path).toBe(`${process.cwd()}/dist/tracker.global.js`);
  });
  it('has no listener that would keep a page out of the back/forward cache', () => {
    expect(script).toContain('pagehide');
    expect(script).not.toMatch(/unload/);
  });
});
