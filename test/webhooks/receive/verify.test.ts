import { ConfigurationError, isPostreelError, WebhookVerificationError } from 'postreel';
import { memorySeen, signWebhookUrl, verifyWebhook } from 'postreel/webhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  alterUrl,
  base,
  failureBody,
  fileUrl,
  callbackRequest,
  secret,
  signAddress,
  successBody,
} from '../../support/webhooks/callbacks.js';

afterEach(() => vi.restoreAllMocks());

const other = 'another secret of the tests';
const path = (url: string) => url.slice(new URL(url).origin.length);

/** Returns the code with which a callback is rejected. */
async function refusalCode(verification: Promise<unknown>): Promise<string> {
  const error = await verification.then(
    () => expect.fail('The callback was accepted.'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WebhookVerificationError);
  expect(isPostreelError(error)).toBe(true);
  return (error as WebhookVerificationError).code; // as: checked in the line above
}

describe('a genuine callback', () => {
  it('returns the id and the address of a finished file', async () => {
    const result = await verifyWebhook(callbackRequest(await signAddress()), { secret });
    expect(result).toMatchObject({ fileId: 'file_1', status: 'success', url: fileUrl });
    expect(result.raw).toEqual(successBody());
  });

  it('returns the error of a failed generation', async () => {
    const result = await verifyWebhook(callbackRequest(await signAddress(), failureBody()), {
      secret,
    });
    expect(result).toMatchObject({ fileId: 'file_1', status: 'error', raw: failureBody() });
    expect(result.url).toBeUndefined();
  });

  it.each([
    ['text', JSON.stringify(successBody())],
    ['bytes', new TextEncoder().encode(JSON.stringify(successBody()))],
    ['a parsed object', successBody()],
    ['a stream', callbackRequest(base).body],
  ])('may be given as path and %s', async (_name, body) => {
    const url = path(await signAddress());
    await expect(verifyWebhook({ url, body }, { secret })).resolves.toMatchObject({
      fileId: 'file_1',
    });
  });

  it.each([
    ['another scheme and host', (url: URL) => new URL(path(url.href), 'http://10.0.0.7:8080').href],
    ['only path and query', (url: URL) => path(url.href)],
    ['other escapes in the path', (url: URL) => url.href.replace('a%20b', '%61 b')],
    ['other escapes in the query', (url: URL) => url.href.replace('c%20d', 'c+d')],
    ['the query in another order', (url: URL) => alterUrl(url.href, (u) => u.searchParams.sort())],
    [
      'a parameter more',
      (url: URL) => alterUrl(url.href, (u) => u.searchParams.append('trace', '1')),
    ],
  ])('is accepted behind a proxy that changes its address to %s', async (_name, rewrite) => {
    const url = new URL(await signAddress(`${base}/a%20b?z=c%20d&y=1`));
    const { body } = callbackRequest(base);
    await expect(verifyWebhook({ url: rewrite(url), body }, { secret })).resolves.toMatchObject({
      fileId: 'file_1',
    });
  });

  it('may have a path that begins with two slashes', async () => {
    const url = path(await signAddress('https://shop.example//evil.example/done'));
    await expect(verifyWebhook({ url, body: successBody() }, { secret })).resolves.toBeDefined();
  });
});

describe('a forged callback', () => {
  it('without a signature is rejected', async () => {
    expect(await refusalCode(verifyWebhook(callbackRequest(base), { secret }))).toBe(
      'SIGNATURE_MISSING',
    );
  });

  it.each(['nonce', 'expires', 'signature'])('without its %s is rejected', async (part) => {
    const url = alterUrl(await signAddress(), (u) => u.searchParams.delete(`postreel_${part}`));
    expect(await refusalCode(verifyWebhook(callbackRequest(url), { secret }))).toBe(
      'SIGNATURE_MISSING',
    );
  });

  it('with two nonces is rejected', async () => {
    const url = `${await signAddress()}&postreel_nonce=0`;
    expect(await refusalCode(verifyWebhook(callbackRequest(url), { secret }))).toBe(
      'SIGNATURE_MISSING',
    );
  });

  it('signed with another secret is rejected', async () => {
    const url = await signWebhookUrl(base, { secret: other });
    expect(await refusalCode(verifyWebhook(callbackRequest(url), { secret }))).toBe(
      'SIGNATURE_INVALID',
    );
  });

  it.each(['0'.repeat(64), 'no hex', 'A'.repeat(64), 'é'.repeat(64)])(
    'with the signature %j is rejected',
    async (signature) => {
      const url = alterUrl(await signAddress(), (u) =>
        u.searchParams.set('postreel_signature', signature),
      );
      expect(await refusalCode(verifyWebhook(callbackRequest(url), { secret }))).toBe(
        'SIGNATURE_INVALID',
      );
    },
  );

  it('is compared in constant time, by Web Crypto', async () => {
    const verify = vi.spyOn(crypto.subtle, 'verify');
    const url = alterUrl(await signAddress(), (u) =>
      u.searchParams.set('postreel_signature', '0'.repeat(64)),
    );
    await refusalCode(verifyWebhook(callbackRequest(url), { secret }));
    expect(verify).toHaveBeenCalledOnce();
    expect(verify.mock.calls[0]?.[2]).toEqual(new Uint8Array(32));
  });

  it('is rejected before its body is read', async () => {
    const request = callbackRequest(base);
    await refusalCode(verifyWebhook(request, { secret }));
    expect(request.bodyUsed).toBe(false);
  });

  it('is rejected with an error that shows no secret, signature or body', async () => {
    const url = alterUrl(await signAddress(), (u) => {
      u.pathname = '/admin';
    });
    const error: unknown = await verifyWebhook(callbackRequest(url), { secret }).catch(
      (e: unknown) => e,
    );
    const shown = JSON.stringify(error) + String(error);
    expect(shown).toContain('does not match its path and query. Is the `secret` the same');
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(new URL(url).searchParams.get('postreel_signature'));
    expect(shown).not.toContain(fileUrl);
  });
});

describe('an altered callback', () => {
  it('with its signature in capitals is rejected, because there is one spelling', async () => {
    const url = alterUrl(await signAddress(), ({ searchParams }) => {
      const signature = searchParams.get('postreel_signature') ?? '';
      searchParams.set('postreel_signature', signature.toUpperCase());
    });
    expect(await refusalCode(verifyWebhook(callbackRequest(url), { secret }))).toBe(
      'SIGNATURE_INVALID',
    );
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
  ])('with %s is rejected', async (_name, change) => {
    const url = alterUrl(await signAddress('https://shop.example/orders/1?order=1'), change);
    expect(await refusalCode(verifyWebhook(callbackRequest(url), { secret }))).toBe(
      'SIGNATURE_INVALID',
    );
  });
});

describe('a list of secrets', () => {
  const secrets = [other, secret];

  it('accepts addresses signed with the old secret', async () => {
    await expect(
      verifyWebhook(callbackRequest(await signAddress()), { secret: secrets }),
    ).resolves.toBeDefined();
  });

  it('signs new addresses with the first secret', async () => {
    const url = await signWebhookUrl(base, { secret: secrets });
    await expect(verifyWebhook(callbackRequest(url), { secret: other })).resolves.toBeDefined();
    expect(await refusalCode(verifyWebhook(callbackRequest(url), { secret }))).toBe(
      'SIGNATURE_INVALID',
    );
  });

  it('still rejects the signature of a third secret', async () => {
    const url = await signWebhookUrl(base, { secret: 'a third secret of the tests' });
    expect(await refusalCode(verifyWebhook(callbackRequest(url), { secret: secrets }))).toBe(
      'SIGNATURE_INVALID',
    );
  });

  it.each([[[]], [[secret, 'short']]])('is rejected as %j', async (bad) => {
    await expect(verifyWebhook(callbackRequest(base), { secret: bad })).rejects.toBeInstanceOf(
      ConfigurationError,
    );
  });
});

describe('an expired callback', () => {
  it('is rejected from the moment of its expiry', async () => {
    const url = await signAddress();
    const expiresAt = Number(new URL(url).searchParams.get('postreel_expires'));
    const at = (now: number) =>
      verifyWebhook(callbackRequest(url), { secret, now, seen: memorySeen() });
    await expect(at(expiresAt - 1)).resolves.toBeDefined();
    expect(await refusalCode(at(expiresAt))).toBe('EXPIRED');
  });
});

describe('a replayed callback', () => {
  it('is rejected, with the same body or another', async () => {
    const url = await signAddress();
    await verifyWebhook(callbackRequest(url), { secret });
    expect(await refusalCode(verifyWebhook(callbackRequest(url), { secret }))).toBe('REPLAYED');
    expect(
      await refusalCode(verifyWebhook(callbackRequest(url, successBody('file_2')), { secret })),
    ).toBe('REPLAYED');
  });

  it('is rejected if both come at the same time', async () => {
    const url = await signAddress();
    const ends = await Promise.allSettled(
      [1, 2, 3].map(() => verifyWebhook(callbackRequest(url), { secret })),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is accepted once its claim was released', async () => {
    const [url, seen] = [await signAddress(), memorySeen()];
    const { nonce } = await verifyWebhook(callbackRequest(url), { secret, seen });
    seen.release(nonce);
    await expect(verifyWebhook(callbackRequest(url), { secret, seen })).resolves.toMatchObject({
      nonce,
    });
  });

  it('is looked up in a custom store', async () => {
    const claim = vi.fn(() => Promise.resolve(false));
    const url = await signAddress();
    const verification = verifyWebhook(callbackRequest(url), {
      secret,
      seen: { claim, release: () => 0 },
    });
    expect(await refusalCode(verification)).toBe('REPLAYED');
    const { searchParams } = new URL(url);
    expect(claim).toHaveBeenCalledWith(
      searchParams.get('postreel_nonce'),
      Number(searchParams.get('postreel_expires')),
    );
  });

  it('does not count if the body could not be read', async () => {
    const url = await signAddress();
    expect(await refusalCode(verifyWebhook(callbackRequest(url, 'no JSON'), { secret }))).toBe(
      'BODY_INVALID',
    );
    await expect(verifyWebhook(callbackRequest(url), { secret })).resolves.toBeDefined();
  });
});

describe('verifyWebhook()', () => {
  it('needs a secret of 16 characters', async () => {
    await expect(verifyWebhook(callbackRequest(base), { secret: '' })).rejects.toBeInstanceOf(
      ConfigurationError,
    );
  });

  it('rejects with a clear error if the body was read before', async () => {
    const request = callbackRequest(await signAddress());
    await request.text();
    await expect(verifyWebhook(request, { secret })).rejects.toMatchObject({ code: 'BODY_USED' });
  });
});
