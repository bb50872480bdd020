import { readFileSync } from 'node:fs';
import { createTrackProxy } from 'postreel/tracker/proxy';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { versionFile } from '../../../scripts/release/version.js';
import { answering, mediaOver, messagingOver } from '../../support/clients.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }; // as: npm's format

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('the user agent', () => {
  it('on a server names the package and the version in its manifest', async () => {
    const { fetch, requests } = answering(() => ({ success: true, data: { fileId: 'f' } }));
    await messagingOver(fetch).contacts.get('con_1');
    await mediaOver(fetch).generate.audio({ content: 'Hello', voiceId: 'v' });
    await createTrackProxy({ apiKey: 'pk_test', baseUrl: 'https://a.test', fetch })(
      new Request('https://shop.test/collect/v1/track', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: '1', event: 'seen', email: 'ann@example.com' }),
      }),
    );
    const agents = requests.map(({ headers }) => headers.get('user-agent'));
    expect(agents).toEqual(Array(3).fill(`postreel/${version}`));
  });

  it('can be replaced by the caller', async () => {
    const { fetch, requests } = answering(() => ({}));
    const headers = { 'User-Agent': 'shop/1.0' };
    await messagingOver(fetch, { headers }).contacts.get('con_1');
    expect(requests[0]?.headers.get('user-agent')).toBe('shop/1.0');
  });

  it("in a browser is the browser's: another one would need a CORS header of the service", async () => {
    vi.stubGlobal('window', { document: {} });
    const { fetch, requests } = answering(() => ({}));
    const messaging = messagingOver(fetch, { apiKey: 'pk_test_key' });
    await messaging.track({ event: 'seen', email: 'ann@example.com' });
    expect(requests[0]?.headers.has('user-agent')).toBe(false);
  });
});

it('`npm version` writes the version of the manifest into the sources', () => {
  expect(readFileSync('src/core/version.ts', 'utf8')).toBe(versionFile(version));
});
