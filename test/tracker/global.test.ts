import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';

const script = readFileSync('dist/tracker.global.js', 'utf8');

/** A page that runs the inline snippet of the document. */
function snippetPage(globals: object = {}) {
  const snippet = /<script>\s+(\(function[\s\S]*?)<\/script>/.exec(
    readFileSync('docs/tracker-script.md', 'utf8'),
  )?.[1];
  const tag: { onload?: () => void; onerror?: () => void; src?: unknown } = {};
  const warn = vi.fn();
  const timers: [work: (value: unknown) => void, ms: number, value: unknown][] = [];
  const page: Record<string, unknown> = createContext({
    console: { warn },
    document: { createElement: () => tag, head: { appendChild: () => undefined } },
    setTimeout: (...timer: (typeof timers)[0]) => timers.push(timer),
    ...globals,
  });
  page['window'] = page;
  runInContext(snippet ?? '', page);
  return { page, tag, warn, timers };
}

describe('the script-tag build', () => {
  it('has the integrity hash that the documentation shows', () => {
    const hash = 'sha384-' + createHash('sha384').update(script).digest('base64');
    const given = /integrity="([^"]+)"/.exec(readFileSync('docs/tracker-script.md', 'utf8'))?.[1];
    expect(given).toBe(hash);
  });
  it('sets one global and no other', () => {
    const page = createContext({});
    runInContext(script, page);
    expect(Object.keys(page)).toEqual(['postreelTracker']);
    expect(runInContext('Object.keys(postreelTracker)', page)).toEqual([
      'createTracker',
      'transient',
    ]);
  });
  it.each([0, 1])('keeps its tracker if Turbo runs the scripts of the body again: %i', (index) => {
    // The script needs only the globals of a server; the snippet also needs the page's head.
    const document = { createElement: () => ({}), head: { appendChild: () => undefined } };
    const page = createContext(index ? { document } : {});
    page['window'] = page;
    const text = readFileSync('docs/tracker-script.md', 'utf8');
    const inline = [...text.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, code]) => code!);
    const visit = () => {
      runInContext(script, page);
      runInContext(inline[index]!, page);
      return page['tracker'] as unknown;
    };
    const first = visit();
    expect(first).toBeDefined();
    expect(visit()).toBe(first);
  });
  it('runs the calls that the inline snippet has queued, in order, once it is loaded', () => {
    const calls: unknown[] = [];
    const { page, tag } = snippetPage();
    runInContext(
      'tracker.identify("a@b.c"); tracker.track("x", {n: 1}); tracker.consent.deny()',
      page,
    );
    expect(calls).toEqual([]);
    const note =
      (name: string) =>
      (...given: unknown[]) =>
        calls.push([name, ...given]);
    page['postreelTracker'] = {
      createTracker: () => ({
        identify: note('identify'),
        track: note('track'),
        consent: { deny: note('deny') },
      }),
    };
    tag.onload?.();
    expect(String(tag.src)).toBe('/assets/tracker.global.js');
    expect(calls).toEqual([['identify', 'a@b.c'], ['track', 'x', { n: 1 }], ['deny']]);
  });
  it.each<[string, (page: ReturnType<typeof snippetPage>) => void]>([
    ['an ad blocker blocks the script', ({ tag }) => tag.onerror?.()],
    ['the script defines no tracker', ({ tag }) => tag.onload?.()],
  ])('settles the queued calls of the inline snippet if %s', async (_, happens) => {
    const given = snippetPage();
    const flushed = runInContext('tracker.flush()', given.page) as Promise<unknown>;
    const tracked = runInContext('tracker.track("x")', given.page) as Promise<unknown>;
    happens(given);
    expect(await Promise.all([flushed, tracked])).toEqual([false, undefined]);
    expect(await runInContext('tracker.flush()', given.page)).toBe(false);
    expect(given.warn).toHaveBeenCalled();
  });
  it('settles the queued calls after five seconds if the script does not load', async () => {
    const { page, timers } = snippetPage();
    const flushed = runInContext('tracker.flush()', page) as Promise<unknown>;
    expect(timers.map(([, ms]) => ms)).toEqual([5000]);
    timers.forEach(([work, , value]) => work(value));
    expect(await flushed).toBe(false);
  });
  it("settles the queued calls if a policy forbids the script's URL", async () => {
    const refuse = () => {
      throw new TypeError("Refused to create a TrustedTypePolicy named 'postreel'");
    };
    const { page, warn } = snippetPage({ trustedTypes: { createPolicy: refuse } });
    expect(await runInContext('tracker.flush()', page)).toBe(false);
    expect(warn).toHaveBeenCalled();
  });
  it('creates its URL with its Trusted Types policy if the page requires Trusted Types', () => {
    const made: string[] = [];
    const createPolicy = (name: string, rules: { createScriptURL: (url: string) => string }) => {
      made.push(name);
      return { createScriptURL: (url: string) => ({ trusted: rules.createScriptURL(url) }) };
    };
    const { tag } = snippetPage({ trustedTypes: { createPolicy } });
    expect([made, tag.src]).toEqual([['postreel'], { trusted: '/assets/tracker.global.js' }]);
  });
  it('has every method in the inline snippet', () => {
    const text = readFileSync('docs/tracker-script.md', 'utf8');
    const verbs = /'(track identify [a-z ]+)'/.exec(text)?.[1]?.split(' ') ?? [];
    const page = createContext({}); // as on a server: no global is changed
    runInContext(script, page);
    const made = 'postreelTracker.createTracker({ publicKey: "pk_", baseUrl: "" })';
    // as: the names made in the line above
    const real = runInContext(`Object.keys(${made})`, page) as string[];
    expect([...verbs, 'consent', 'pending'].sort()).toEqual([...real].sort());
  });
  it('can be resolved by the name of the package', () => {
    const path = createRequire(import.meta.url).resolve('postreel/tracker.global.js');
    expect(path).toBe(`${process.cwd()}/dist/tracker.global.js`);
  });
  it('has no listener that would keep a page out of the back/forward cache', () => {
    expect(script).toContain('pagehide');
    expect(script).not.toMatch(/unload/);
  });
});
