import { ConfigurationError, InvalidRequestError } from 'postreel';
import { signWebhookUrl, verifyWebhook } from 'postreel/webhooks';
import { describe, expect, it } from 'vitest';
import { base, callbackRequest, secret, signAddress } from '../../support/webhooks/callbacks.js';

describe('signWebhookUrl()', () => {
  it('adds a nonce, an expiry and a signature', async () => {
    const { searchParams } = new URL(await signAddress());
    expect([...searchParams.keys()]).toEqual([
      'postreel_nonce',
      'postreel_expires',
      'postreel_signature',
    ]);
    expect(searchParams.get('postreel_nonce')).toMatch(/^[0-9a-f]{32}$/);
    expect(searchParams.get('postreel_signature')).toMatch(/^[0-9a-f]{64}$/);
  });

  it('makes a different address each time', async () => {
    expect(await signAddress()).not.toBe(await signAddress());
  });

  it('keeps the existing query, letter by letter', async () => {
    const url = await signAddress(`${base}?order=4%2F2&name=a%20b~c&empty`);
    expect(
      url.startsWith(
        `${base}?order=4%2F2&name=a%20b~c&empty&postreel_signed=empty%2Cname%2Corder&postreel_nonce=`,
      ),
    ).toBe(true);
    await expect(verifyWebhook(callbackRequest(url), { secret })).resolves.toMatchObject({
      fileId: 'file_1',
    });
  });

  it('takes a URL object and does not change it', async () => {
    const url = new URL(base);
    expect((await signWebhookUrl(url, { secret })).startsWith(`${base}?`)).toBe(true);
    expect(url.href).toBe(base);
  });

  it('removes the fragment, which is never sent', async () => {
    expect(await signAddress(`${base}#top`)).not.toContain('#');
  });

  it('signs an address again that was signed before', async () => {
    const again = await signAddress(await signAddress(`${base}?order=1`));
    expect([...new URL(again).searchParams]).toHaveLength(5);
    await expect(verifyWebhook(callbackRequest(again), { secret })).resolves.toMatchObject({
      status: 'success',
    });
  });

  it('makes an address that expires after a day by default', async () => {
    const expiry = (url: string) => Number(new URL(url).searchParams.get('postreel_expires'));
    const before = Date.now();
    const [day, minute] = [
      await signAddress(),
      await signWebhookUrl(base, { secret, expiresIn: 60_000 }),
    ];
    const after = Date.now();
    expect(expiry(day)).toBeGreaterThanOrEqual(before + 86_400_000);
    expect(expiry(day)).toBeLessThanOrEqual(after + 86_400_000);
    expect(expiry(minute)).toBeLessThanOrEqual(after + 60_000);
  });

  it.each(['ftp://shop.example/', 'media-done', '/media-done', 'javascript:alert(1)', ''])(
    'rejects an address that cannot be called: %j',
    async (url) => {
      const refusal = signAddress(url);
      await expect(refusal).rejects.toBeInstanceOf(InvalidRequestError);
      await expect(refusal).rejects.toMatchObject({
        message: "The webhook's `url` must be an absolute http(s) URL that the service can reach.",
        fieldErrors: [{ field: 'url' }],
        outcome: 'not-sent',
      });
    },
  );

  it.each(['http://localhost:3000/done', 'http://shop.example/done'])('accepts %s', async (url) => {
    await expect(signAddress(url)).resolves.toContain(url);
  });

  it.each([
    [15, false],
    [16, true],
  ])('accepts a secret of %i characters: %j', async (length, isTaken) => {
    const address = signWebhookUrl(base, { secret: 'x'.repeat(length) });
    await (isTaken ? expect(address).resolves.toContain(base) : expect(address).rejects.toThrow());
  });

  it('rejects a short secret and does not show it', async () => {
    const refusal = signWebhookUrl(base, { secret: 'hunter2' });
    await expect(refusal).rejects.toBeInstanceOf(ConfigurationError);
    await expect(refusal).rejects.toThrow('must be a string of at least 16 characters');
    await expect(refusal).rejects.not.toThrow('hunter2');
  });

  it.each([0, -1, Number.NaN, Infinity])('rejects an expiry of %d', async (expiresIn) => {
    await expect(signWebhookUrl(base, { secret, expiresIn })).rejects.toBeInstanceOf(
      ConfigurationError,
    );
  });
});
