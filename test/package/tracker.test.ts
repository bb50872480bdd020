import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage, type Project } from '../support/package/installed.js';

let project: Project;
beforeAll(async () => {
  project = await installPackage({ with: ['react'] });
});
afterAll(() => project.remove());

const load = {
  mjs: (path: string) => `await import('${path}')`,
  cjs: (path: string) => `require('${path}')`,
};

/** Runs the packed module until it ends by itself, and parses the JSON it prints. */
async function run(kind: 'mjs' | 'cjs', code: string): Promise<unknown> {
  const text = kind === 'mjs' ? code : `(async () => { ${code} })();`;
  const file = await project.write(`tracker.${kind}`, text);
  return JSON.parse(await project.run(process.execPath, [file]));
}

describe.each(['mjs', 'cjs'] as const)('the packed tracker, from a .%s file,', (kind) => {
  it('autoPage() tracks each page of an app', async () => {
    const pages = await run(
      kind,
      `const { autoPage } = ${load[kind]('postreel/tracker/extras')};
      const go = (_, __, path) => { location.href = 'https://shop.test' + path; };
      Object.assign(globalThis, {
        document: { referrer: 'https://search.test/?q=me' },
        location: { href: 'https://shop.test/?token=1', search: '?token=1&utm_source=mail' },
        history: { pushState: go, replaceState: go },
        addEventListener() {}, removeEventListener() {},
      });
      const tracked = [];
      const stop = autoPage({ track: (...event) => { tracked.push(event); } });
      history.pushState({}, '', '/cart?id=1');
      stop();
      history.pushState({}, '', '/paid');
      console.log(JSON.stringify(tracked));`,
    );
    const only = (value: string) => ({ value, persistent: false });
    const utm_source = only('mail');
    const [home, cart] = [only('https://shop.test/'), only('https://shop.test/cart')];
    expect(pages).toEqual([
      ['page_viewed', { url: home, referrer: only('https://search.test/'), utm_source }],
      ['page_viewed', { url: cart, referrer: home, utm_source }],
    ]);
  });

  it('the proxy sends each id once, and forgets the oldest ids', async () => {
    const sent = await run(
      kind,
      `const { createTrackProxy } = ${load[kind]('postreel/tracker/proxy')};
      let sent = 0;
      const fetch = async () => { sent++; return Response.json({ success: true }); };
      const proxy = createTrackProxy({ apiKey: 'sk_test', baseUrl: 'https://service.test', fetch });
      let at = performance.now();
      performance.now = () => at;
      const track = (id) => proxy(new Request('https://app.test/collect/v1/track', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ id: String(id), event: 'x' }),
      }));
      await track(0);
      await track(0);
      const once = sent;
      for (let id = 1; id <= 10_000; id++) {
        at += 200; // inside of the rate limit
        await track(id);
      }
      await track(0);
      console.log(JSON.stringify([once, sent]));`,
    );
    expect(sent).toEqual([1, 10_002]);
  });

  it('a tracker sends its events', async () => {
    const sent = await run(
      kind,
      `const { createTracker } = ${load[kind]('postreel/tracker')};
      const { defineProperty } = Object; // newer versions of Node have a navigator
      defineProperty(globalThis, 'navigator', { value: { onLine: true } });
      Object.assign(globalThis, { document: {}, addEventListener() {}, removeEventListener() {} });
      const sent = [];
      globalThis.fetch = async (_, { body }) => {
        sent.push(JSON.parse(body));
        return Response.json({ success: true });
      };
      const tracker = createTracker({
        publicKey: 'pk_test', baseUrl: 'https://service.test', email: 'ann@example.com', storage: 'memory',
      });
      await tracker.track('signed_up', { plan: 'pro' }).outcome;
      tracker.dispose();
      console.log(JSON.stringify(sent));`,
    );
    expect(sent).toMatchObject([
      { event: 'signed_up', email: 'ann@example.com', data: { plan: 'pro' } },
    ]);
  });
});
