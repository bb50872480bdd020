import { ConfigurationError, isPostreelError, WebhookVerificationError } from 'postreel';
import { memorySeen, signWebhookUrl, verifyWebhook } from 'postreel/webhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  altered,
  base,
  failure,
  fileUrl,
  post,
  secret,
  signed,
  success,
} from '../../support/webhooks/callbacks.js';

afterEach(() => vi.restoreAllMocks());

const other = 'another secret of the tests';
const path = (url: string) => url.slice(new URL(url).origin.length);

/** The code with which a callback is refused. */
async function refusal(verification: Promise<unknown>): Promise<string> {
  const error = await verification.then(
    () => expect.fail('The callback was accepted.'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WebhookVerificationError);
  expect(isPostreelError(error)).toBe(true);
  return (error as WebhookVerificationError).code; // as: just seen
}

describe('a genuine callback', () => {
  it('tells that a file is finished, and where it lies', async () => {
    const result = await verifyWebhook(post(await signed()), { secret });
    expect(result).toMatchObject({ fileId: 'file_1', status: 'success', url: fileUrl });
    expect(result.raw).toEqual(success());
  });

  it('tells that a generation failed', async () => {
    const result = await verifyWebhook(post(await signed(), failure()), { secret });
    expect(result).toMatchObject({ fileId: 'file_1', status: 'error', raw: failure() });
    expect(result.url).toBeUndefined();
  });

  it.each([
    ['text', JSON.stringify(success())],
    ['bytes', new TextEncoder().encode(JSON.stringify(success()))],
    ['what a parser made of it', success()],
    ['a stream', post(base).body],
  ])('may come as path and %s', async (_name, body) => {
    const url = path(await signed());
    await expect(verifyWebhook({ url, body }, { secret })).resolves.toMatchObject({
      fileId: 'file_1',
    });
  });

  it.each([
    ['another scheme and host', (url: URL) => new URL(path(url.href), 'http://10.0.0.7:8080').href],
    ['only path and query', (url: URL) => path(url.href)],
    ['other escapes in the path', (url: URL) => url.href.replace('a%20b', '%61 b')],
    ['other escapes in the query', (url: URL) => url.href.replace('c%20d', 'c+d')],
    ['the query in another order', (url: URL) => altered(url.href, (u) => u.searchParams.sort())],
    [
      'a parameter more',
      (url: URL) => altered(url.href, (u) => u.searchParams.append('trace', '1')),
    ],
  ])('passes a proxy that makes of it %s', async (_name, rewrite) => {
    const url = new URL(await signed(`${base}/a%20b?z=c%20d&y=1`));
    const { body } = post(base);
    await expect(verifyWebhook({ url: rewrite(url), body }, { secret })).resolves.toMatchObject({
      fileId: 'file_1',
    });
  });

  it('may have a path that begins with two slashes', async () => {
    const url = path(await signed('https://shop.example//evil.example/done'));
    await expect(verifyWebhook({ url, body: success() }, { secret })).resolves.toBeDefined();
  });
});

describe('a forged callback', () => {
  it('without a signature is refused', async () => {
    expect(await refusal(verifyWebhook(post(base), { secret }))).toBe('SIGNATURE_MISSING');
  });

  it.each(['nonce', 'expires', 'signature'])('without its %s is refused', async (part) => {
    const url = altered(await signed(), (u) => u.searchParams.delete(`postreel_${part}`));
    expect(await refusal(verifyWebhook(post(url), { secret }))).toBe('SIGNATURE_MISSING');
  });

  it('with two nonces is refused', async () => {
    const url = `${await signed()}&postreel_nonce=0`;
    expect(await refusal(verifyWebhook(post(url), { secret }))).toBe('SIGNATURE_MISSING');
  });

  it('signed with another secret is refused', async () => {
    const url = await signWebhookUrl(base, { secret: other });
    expect(await refusal(verifyWebhook(post(url), { secret }))).toBe('SIGNATURE_INVALID');
  });

  it.each(['0'.repeat(64), 'no hex', 'A'.repeat(64), 'é'.repeat(64)])(
    'with the signature %j is refused',
    async (signature) => {
      const url = altered(await signed(), (u) =>
        u.searchParams.set('postreel_signature', signature),
      );
      expect(await refusal(verifyWebhook(post(url), { secret }))).toBe('SIGNATURE_INVALID');
    },
  );

  it('is compared in constant time, by Web Crypto', async () => {
    const verify = vi.spyOn(crypto.subtle, 'verify');
    const url = altered(await signed(), (u) =>
      u.searchParams.set('postreel_signature', '0'.repeat(64)),
    );
    await refusal(verifyWebhook(post(url), { secret }));
    expect(verify).toHaveBeenCalledOnce();
    expect(verify.mock.calls[0]?.[2]).toEqual(new Uint8Array(32));
  });

  it('has its body unread', async () => {
    const request = post(base);
    await refusal(verifyWebhook(request, { secret }));
    expect(request.bodyUsed).toBe(false);
  });

  it('is refused without showing secret, signature or body', async () => {
    const url = altered(await signed(), (u) => {
      u.pathname = '/admin';
    });
    const error: unknown = await verifyWebhook(post(url), { secret }).catch((e: unknown) => e);
    const shown = JSON.stringify(error) + String(error);
    expect(shown).toContain('does not match its path and query. Is the `secret` the same');
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(new URL(url).searchParams.get('postreel_signature'));
    expect(shown).not.toContain(fileUrl);
  });
});

describe('an altered callback', () => {
  it('with its signature in capitals is refused: it has one spelling', async () => {
    const url = altered(await signed(), ({ searchParams }) => {
      const signature = searchParams.get('postreel_signature') ?? '';
      searchParams.set('postreel_signature', signature.toUpperCase());
    });
    expect(await refusal(verifyWebhook(post(url), { secret }))).toBe('SIGNATURE_INVALID');
  });

  it.each<[string, (url: URL) => void]>([
    [
      'another path',
      (url) => {
        url.pathname = '/admin';
      },
    ],
    [
      'a longer path',
      (url) => {
        url.pathname += '/';
      },
    ],
    [
      'a path in other letters',
      (url) => {
        url.pathname = url.pathname.toUpperCase();
      },
    ],
    [
      'an escaped slash',
      (url) => {
        url.pathname = '/orders%2F1';
      },
    ],
    ['another value in the query', (url) => url.searchParams.set('order', '2')],
    ['a second value of a parameter', (url) => url.searchParams.append('order', '2')],
    ['an empty list of signed parameters', (url) => url.searchParams.delete('postreel_signed')],
    [
      'a longer list of signed parameters',
      (url) => url.searchParams.append('postreel_signed', 'x'),
    ],
    ['one parameter less', (url) => url.searchParams.delete('order')],
    ['another nonce', (url) => url.searchParams.set('postreel_nonce', 'ab'.repeat(16))],
    ['a later expiry', (url) => url.searchParams.set('postreel_expires', '99999999999999')],
  ])('with %s is refused', async (_name, change) => {
    const url = altered(await signed('https://shop.example/orders/1?order=1'), change);
    expect(await refusal(verifyWebhook(post(url), { secret }))).toBe('SIGNATURE_INVALID');
  });
});

describe('a secret that is rotated', () => {
  const secrets = [other, secret];

  it('accepts addresses that were signed with the old one', async () => {
    await expect(verifyWebhook(post(await signed()), { secret: secrets })).resolves.toBeDefined();
  });

  it('signs new addresses with the first one', async () => {
    const url = await signWebhookUrl(base, { secret: secrets });
    await expect(verifyWebhook(post(url), { secret: other })).resolves.toBeDefined();
    expect(await refusal(verifyWebhook(post(url), { secret }))).toBe('SIGNATURE_INVALID');
  });

  it('still refuses the signature of a third one', async () => {
    const url = await signWebhookUrl(base, { secret: 'a third secret of the tests' });
    expect(await refusal(verifyWebhook(post(url), { secret: secrets }))).toBe('SIGNATURE_INVALID');
  });

  it.each([[[]], [[secret, 'short']]])('is refused as %j', async (bad) => {
    await expect(verifyWebhook(post(base), { secret: bad })).rejects.toBeInstanceOf(
      ConfigurationError,
    );
  });
});

describe('an expired callback', () => {
  it('is refused from the moment of its expiry', async () => {
    const url = await signed();
    const expiresAt = Number(new URL(url).searchParams.get('postreel_expires'));
    const at = (now: number) => verifyWebhook(post(url), { secret, now, seen: memorySeen() });
    await expect(at(expiresAt - 1)).resolves.toBeDefined();
    expect(await refusal(at(expiresAt))).toBe('EXPIRED');
  });
});

describe('a replayed callback', () => {
  it('is refused, with the same body or another', async () => {
    const url = await signed();
    await verifyWebhook(post(url), { secret });
    expect(await refusal(verifyWebhook(post(url), { secret }))).toBe('REPLAYED');
    expect(await refusal(verifyWebhook(post(url, success('file_2')), { secret }))).toBe('REPLAYED');
  });

  it('is refused when both come at once', async () => {
    const url = await signed();
    const ends = await Promise.allSettled(
      [1, 2, 3].map(() => verifyWebhook(post(url), { secret })),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is accepted once its handling was given up', async () => {
    const [url, seen] = [await signed(), memorySeen()];
    const { nonce } = await verifyWebhook(post(url), { secret, seen });
    seen.release(nonce);
    await expect(verifyWebhook(post(url), { secret, seen })).resolves.toMatchObject({ nonce });
  });

  it('is asked for in a store of your own', async () => {
    const claim = vi.fn(() => Promise.resolve(false));
    const url = await signed();
    const verification = verifyWebhook(post(url), { secret, seen: { claim, release: () => 0 } });
    expect(await refusal(verification)).toBe('REPLAYED');
    const { searchParams } = new URL(url);
    expect(claim).toHaveBeenCalledWith(
      searchParams.get('postreel_nonce'),
      Number(searchParams.get('postreel_expires')),
    );
  });

  it('does not count when the body could not be read', async () => {
    const url = await signed();
    expect(await refusal(verifyWebhook(post(url, 'no JSON'), { secret }))).toBe('BODY_INVALID');
    await expect(verifyWebhook(post(url), { secret })).resolves.toBeDefined();
  });
});

describe('how it is called', () => {
  it('needs a secret of 16 characters', async () => {
    await expect(verifyWebhook(post(base), { secret: '' })).rejects.toBeInstanceOf(
      ConfigurationError,
    );
  });

  it('says so when the body was read before', async () => {
    const request = post(await signed());
    await request.text();
    await expect(verifyWebhook(request, { secret })).rejects.toMatchObject({ code: 'BODY_USED' });
  });
});
