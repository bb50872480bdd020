import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';

const script = readFileSync('dist/tracker.global.js', 'utf8');

describe('the script-tag build', () => {
  it('has the integrity hash that the document gives', () => {
    const hash = 'sha384-' + createHash('sha384').update(script).digest('base64');
    const given = /integrity="([^"]+)"/.exec(readFileSync('docs/tracker-script.md', 'utf8'))?.[1];
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
  it('does what the inline snippet has queued, in order, once it is there', () => {
    const snippet = /<script>\s+(\(function[\s\S]*?)<\/script>/.exec(
      readFileSync('docs/tracker-script.md', 'utf8'),
    )?.[1];
    const calls: unknown[] = [];
    const tag: { onload?: () => void; src?: string } = {};
    const note =
      (name: string) =>
      (...given: unknown[]) => {
        calls.push([name, ...given]);
        if (given[0] === 'bad') {
          throw new TypeError('of the data');
        }
      };
    const page: Record<string, unknown> = createContext({
      console: { error: () => undefined },
      document: { createElement: () => tag, head: { appendChild: () => undefined } },
    });
    page['window'] = page;
    runInContext(snippet ?? '', page);
    runInContext(
      'tracker.identify("a@b.c"); tracker.track("bad"); tracker.track("x", {n: 1}); tracker.consent.deny()',
      page,
    );
    expect(calls).toEqual([]);
    page['postreelTracker'] = {
      createTracker: () => ({
        identify: note('identify'),
        track: note('track'),
        consent: { deny: note('deny') },
      }),
    };
    tag.onload?.();
    expect(tag.src).toBe('/assets/tracker.global.js');
    expect(calls).toEqual([
      ['identify', 'a@b.c'],
      ['track', 'bad'],
      ['track', 'x', { n: 1 }],
      ['deny'],
    ]);
  });
  it('knows every verb in the inline snippet', () => {
    const text = readFileSync('docs/tracker-script.md', 'utf8');
    const verbs = /'(track identify [a-z ]+)'/.exec(text)?.[1]?.split(' ') ?? [];
    const page = createContext({}); // a server: nothing is touched
    runInContext(script, page);
    const made = 'postreelTracker.createTracker({ publicKey: "pk_", baseUrl: "" })';
    // As the line above makes it.
    const real = runInContext(`Object.keys(${made})`, page) as string[];
    expect([...verbs, 'consent', 'pending'].sort()).toEqual([...real].sort());
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
