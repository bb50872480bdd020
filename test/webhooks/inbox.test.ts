import { setTimeout as realSleep } from 'node:timers/promises';
import { ConfigurationError } from 'postreel';
import { createInbox, memorySeen, type InboxOptions, type ReadStatus } from 'postreel/webhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  base,
  failureBody,
  fileUrl,
  callbackRequest,
  secret,
  successBody,
} from '../support/webhooks/callbacks.js';

/** An inbox, its recorded errors, and functions that call it. */
function openInbox(options: Partial<InboxOptions> = {}) {
  const errors: unknown[] = [];
  const inbox = createInbox({ secret, onError: (error) => errors.push(error), ...options });
  const { fetch } = inbox;
  const deliver = async (body: unknown = successBody()) =>
    fetch(callbackRequest(await inbox.url(base), body));
  return { inbox, errors, deliver, fetch };
}

describe('the response of an inbox', () => {
  it('is 204 without a body to a genuine callback', async () => {
    const { deliver, errors } = openInbox();
    const response = await deliver();
    expect(response.status).toBe(204);
    expect(await response.text()).toBe('');
    expect(errors).toEqual([]);
  });

  it('is 401 to a callback without a signature', async () => {
    const { fetch, errors } = openInbox();
    const response = await fetch(callbackRequest(base));
    expect(response.status).toBe(401);
    expect(await response.text()).toBe('SIGNATURE_MISSING');
    expect(errors).toMatchObject([{ code: 'SIGNATURE_MISSING' }]);
  });

  it('is 401 to a callback signed with another secret', async () => {
    const { fetch } = openInbox();
    const foreign = createInbox({ secret: 'a secret of somebody else' });
    expect((await fetch(callbackRequest(await foreign.url(base)))).status).toBe(401);
  });

  it('is 401 to an expired callback', async () => {
    const { inbox, fetch } = openInbox();
    const url = await inbox.url(base, { expiresIn: 1 });
    vi.useFakeTimers({ now: Date.now() + 10, toFake: ['Date'] });
    const response = await fetch(callbackRequest(url)).finally(() => vi.useRealTimers());
    expect([response.status, await response.text()]).toEqual([401, 'EXPIRED']);
  });

  it('is 204 to a repeated callback, which calls no listener', async () => {
    const { inbox, fetch, errors } = openInbox();
    const [url, listener] = [await inbox.url(base), vi.fn()];
    inbox.on(listener);
    const answers = [];
    for (let i = 0; i < 3; i += 1) {
      answers.push((await fetch(callbackRequest(url))).status);
    }
    expect(answers).toEqual([204, 204, 204]);
    expect(listener).toHaveBeenCalledOnce();
    expect(errors).toEqual([]);
  });

  it('is 409 to a callback for another file at a used address, because an address is signed for one job', async () => {
    const { inbox, fetch, errors } = openInbox();
    const [url, listener] = [await inbox.url(base), vi.fn()];
    inbox.on(listener);
    await fetch(callbackRequest(url));
    for (const id of ['file_2', 'file_2', 'file_3']) {
      const other = await fetch(callbackRequest(url, successBody(id)));
      expect([other.status, await other.text()]).toEqual([409, 'REPLAYED']);
    }
    expect(errors.map((error) => (error as { code: string }).code)).toEqual(
      new Array(3).fill('REPLAYED'),
    );
    expect(listener).toHaveBeenCalledOnce();
    expect((await fetch(callbackRequest(url))).status).toBe(204);
  });

  it('is 400 to an invalid body', async () => {
    const { deliver } = openInbox();
    expect((await deliver('no JSON')).status).toBe(400);
  });

  it('is 413 to a body that is too long', async () => {
    const { deliver } = openInbox();
    expect((await deliver(' '.repeat(70_000))).status).toBe(413);
  });

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('is 405 to %s', async (method) => {
    const { inbox, fetch, errors } = openInbox();
    const response = await fetch(new Request(await inbox.url(base), { method }));
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect(errors).toEqual([]);
  });

  it('is 500 if the store fails, and the inbox does not throw', async () => {
    const { deliver, errors } = openInbox({
      seen: { claim: () => Promise.reject(new Error('no Redis')), release: () => undefined },
    });
    expect((await deliver()).status).toBe(500);
    expect(errors).toMatchObject([{ message: 'no Redis' }]);
  });

  it('is 500 if the store claims too late, and the callback is handled when it comes again', async () => {
    const store = memorySeen();
    const late: { answer?: () => void } = {};
    const claim = vi
      .fn((...args: Parameters<typeof store.claim>) => store.claim(...args))
      .mockImplementationOnce(async (...args) => {
        const isFirst = await store.claim(...args);
        await new Promise<void>((resolve) => {
          late.answer = resolve;
        });
        return isFirst;
      });
    const release = vi.fn((...args: Parameters<typeof store.release>) => store.release(...args));
    const { inbox, errors, fetch } = openInbox({ seen: { claim, release } });
    const url = await inbox.url(base);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const answer = fetch(callbackRequest(url));
      while (!late.answer) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      await vi.advanceTimersByTimeAsync(4_500);
      expect((await answer).status).toBe(500);
      expect(errors).toHaveLength(1);
      late.answer();
      while (release.mock.calls.length === 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      vi.useRealTimers();
    }
    const handle = vi.fn();
    inbox.on(handle);
    expect((await fetch(callbackRequest(url))).status).toBe(204);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('is 202 after five seconds of work, which continues', async () => {
    const { inbox, errors, fetch } = openInbox();
    const url = await inbox.url(base);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const end: { fail?: (reason: Error) => void } = {};
      const work = vi.fn(
        () =>
          new Promise<void>((_, reject) => {
            end.fail = reject;
          }),
      );
      const stop = inbox.on(work);
      const answer = fetch(callbackRequest(url));
      while (!end.fail) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      await vi.advanceTimersByTimeAsync(4_999);
      expect(vi.getTimerCount()).toBe(1);
      await vi.advanceTimersByTimeAsync(1);
      const response = await answer;
      expect([response.status, await response.text()]).toEqual([202, '']);
      // A later failure is reported to `onError`, and the callback may come again.
      end.fail(new Error('no database'));
      while (errors.length === 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(errors).toMatchObject([{ message: 'no database' }]);
      stop();
      expect((await fetch(callbackRequest(url))).status).toBe(204);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is sent even if `onError` throws', async () => {
    const onError = () => {
      throw new Error('no log');
    };
    expect((await openInbox({ onError }).fetch(callbackRequest(base))).status).toBe(401);
    // TypeScript accepts an async callback as `void`; an unhandled rejection would fail the run.
    const later = (): unknown => Promise.reject(new Error('no log'));
    expect((await openInbox({ onError: later }).fetch(callbackRequest(base))).status).toBe(401);
  });
});

describe('a listener', () => {
  it('is called for every callback until it is removed', async () => {
    const { inbox, deliver } = openInbox();
    const listener = vi.fn();
    const stop = inbox.on(listener);
    await deliver(successBody('file_1'));
    await deliver(failureBody('file_2'));
    stop();
    await deliver(successBody('file_3'));
    expect(listener.mock.calls).toMatchObject([
      [{ fileId: 'file_1', status: 'success', url: fileUrl }],
      [{ fileId: 'file_2', status: 'error' }],
    ]);
  });

  it('that fails makes the inbox accept the same callback again, until it is handled', async () => {
    const { inbox, fetch, errors } = openInbox();
    const listener = vi.fn().mockRejectedValueOnce(new Error('no database'));
    inbox.on(listener);
    const url = await inbox.url(base);
    const answers = [];
    for (let i = 0; i < 3; i += 1) {
      answers.push((await fetch(callbackRequest(url))).status);
    }
    expect(answers).toEqual([500, 204, 204]);
    expect(listener).toHaveBeenCalledTimes(2);
    expect(errors[0]).toMatchObject({ message: 'no database' });
  });

  it('that fails does not prevent the other listeners', async () => {
    const { inbox, deliver, errors } = openInbox();
    const [second, wait] = [vi.fn(), inbox.wait('file_1')];
    const broken = () => {
      throw new Error('broken');
    };
    for (const listener of [broken, second, broken]) {
      inbox.on(listener);
    }
    expect((await deliver()).status).toBe(500);
    expect(second).toHaveBeenCalledOnce();
    await expect(wait).resolves.toMatchObject({ fileId: 'file_1' });
    expect(errors[0]).toBeInstanceOf(AggregateError);
  });

  it.each([
    ['is done', () => undefined, 204],
    ['fails', () => Promise.reject(new Error('no database')), 500],
  ])(
    'is called once for a callback that comes again while it works, and both are answered when it %s',
    async (_, end, status) => {
      const store = memorySeen();
      const claim = vi.spyOn(store, 'claim');
      const { inbox, fetch } = openInbox({ seen: store });
      let finish = () => {};
      const working = new Promise<void>((done) => {
        finish = done;
      });
      const listener = vi.fn(() => working.then(end));
      inbox.on(listener);
      const url = await inbox.url(base);
      const answers = [1, 2, 3].map(() => fetch(callbackRequest(url)));
      // The first callback claims its address as well.
      await vi.waitFor(() => expect(claim).toHaveBeenCalledTimes(4));
      finish();
      const responses = await Promise.all(answers);
      expect(responses.map((response) => response.status)).toEqual([status, status, status]);
      expect(listener).toHaveBeenCalledOnce();
    },
  );
});

describe('a wait for a file', () => {
  it('ends for all callers when the callback comes', async () => {
    const { inbox, deliver } = openInbox();
    const waits = [inbox.wait('file_1'), inbox.wait('file_1')];
    await deliver(successBody('file_2'));
    await deliver();
    for (const wait of waits) {
      await expect(wait).resolves.toMatchObject({ url: fileUrl });
    }
  });

  it('ends at once if the callback has already come', async () => {
    const { inbox, deliver } = openInbox();
    await deliver(failureBody());
    await expect(inbox.wait('file_1')).resolves.toMatchObject({ status: 'error' });
  });

  it('rejects with the reason of an abort', async () => {
    const { inbox, deliver } = openInbox();
    const [controller, reason] = [new AbortController(), new Error('enough')];
    const wait = inbox.wait('file_1', { signal: controller.signal });
    controller.abort(reason);
    await expect(wait).rejects.toBe(reason);
    await expect(inbox.wait('file_1', { signal: controller.signal })).rejects.toBe(reason);
    expect((await deliver()).status).toBe(204);
  });

  it('removes its listener from the signal', async () => {
    const { inbox, deliver } = openInbox();
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, 'removeEventListener');
    const wait = inbox.wait('file_1', { signal });
    await deliver();
    await wait;
    expect(remove).toHaveBeenCalledOnce();
  });

  it('finds the last 1,000 results, and no older ones', async () => {
    const { inbox, deliver } = openInbox();
    for (let file = 0; file <= 1_000; file += 1) {
      await deliver(failureBody(`file_${file}`));
    }
    const [controller, reason] = [new AbortController(), new Error('forgotten')];
    const forgotten = inbox.wait('file_0', { signal: controller.signal });
    await expect(inbox.wait('file_1')).resolves.toBeDefined();
    controller.abort(reason);
    await expect(forgotten).rejects.toBe(reason);
  });
});

/**
 * Resolves with the response to a callback whose status is read several times, without the pauses.
 */
async function withoutPauses(answer: Promise<Response>): Promise<Response> {
  const state = { isOver: false };
  const end = answer.finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    await realSleep(5); // a signature is checked in real time
    await vi.advanceTimersByTimeAsync(100);
  }
  return end;
}

describe('an inbox that confirms callbacks', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  const record = (status: string, download?: string) =>
    vi.fn<ReadStatus>(() => Promise.resolve({ status, download }));

  it('accepts a success that the status confirms, and uses the address in the status', async () => {
    const status = record('success', 'https://cdn.example/true.mp3');
    const { inbox, deliver } = openInbox({ confirm: true, status });
    expect((await deliver()).status).toBe(204);
    expect(status).toHaveBeenCalledWith('file_1');
    const result = await inbox.wait('file_1');
    expect(result.url).toBe('https://cdn.example/true.mp3');
  });

  it.each(['error', 'canceled'])(
    'accepts a failure of a file whose status is %s',
    async (status) => {
      const { inbox, deliver } = openInbox({ status: record(status) });
      expect((await deliver(failureBody())).status).toBe(204);
      await expect(inbox.wait('file_1')).resolves.toMatchObject({ status: 'error' });
    },
  );

  it.each([
    ['a success', 'processing', successBody()],
    ['a success', 'error', successBody()],
    ['a success without an address', 'success', successBody()],
    ['a failure', 'success', failureBody()],
    ['a failure', 'processing', failureBody()],
  ])('rejects %s of a file whose status is %s', async (_name, status, body) => {
    const { inbox, fetch, errors } = openInbox({ status: record(status) });
    const listener = vi.fn();
    inbox.on(listener);
    const response = await withoutPauses(fetch(callbackRequest(await inbox.url(base), body)));
    expect([response.status, await response.text()]).toEqual([409, 'NOT_CONFIRMED']);
    expect(listener).not.toHaveBeenCalled();
    expect(errors).toMatchObject([{ code: 'NOT_CONFIRMED' }]);
  });

  it.each([
    ['a success', successBody(), ['processing', 'queued', 'success'], 204],
    ['a failure', failureBody(), ['processing', 'processing', 'processing', 'error'], 204],
    ['a success', successBody(), ['processing', 'error', 'success'], 409],
  ])('waits for a status that lags behind %s', async (_name, body, statuses, expected) => {
    let reads = 0;
    const status = vi.fn<ReadStatus>(() =>
      Promise.resolve({ status: statuses[reads++]!, download: fileUrl }),
    );
    const { inbox, fetch } = openInbox({ status });
    const response = await withoutPauses(fetch(callbackRequest(await inbox.url(base), body)));
    expect(response.status).toBe(expected);
    expect(reads).toBe(expected === 204 ? statuses.length : 2);
  });

  it.each([
    ['completed', successBody()],
    ['FAILED', failureBody()],
  ])('accepts other words for a final status: %s', async (word, body) => {
    const { deliver } = openInbox({ status: record(word, fileUrl) });
    expect((await deliver(body)).status).toBe(204);
  });

  it('reports its error even if the store fails as well', async () => {
    const seen = { claim: () => true, release: () => Promise.reject(new Error('no Redis')) };
    const { deliver, errors } = openInbox({ seen, status: record('error') });
    expect((await deliver()).status).toBe(409);
    expect(errors).toMatchObject([{ message: 'no Redis' }, { code: 'NOT_CONFIRMED' }]);
  });

  it('accepts the genuine callback after a forged one', async () => {
    const { inbox, fetch } = openInbox({ status: record('success', fileUrl) });
    const url = await inbox.url(base);
    expect((await fetch(callbackRequest(url, failureBody()))).status).toBe(409);
    expect((await fetch(callbackRequest(url))).status).toBe(204);
  });

  it('accepts the callback again if the status could not be read', async () => {
    const status = record('success', fileUrl).mockRejectedValueOnce(new Error('no network'));
    const { inbox, fetch } = openInbox({ status });
    const url = await inbox.url(base);
    expect((await fetch(callbackRequest(url))).status).toBe(500);
    expect((await fetch(callbackRequest(url))).status).toBe(204);
  });

  it('reads no status if `confirm` is off', async () => {
    const status = record('processing');
    const { deliver } = openInbox({ confirm: false, status });
    expect((await deliver()).status).toBe(204);
    expect(status).not.toHaveBeenCalled();
  });
});

describe('createInbox()', () => {
  it.each(['', 'too short'])('rejects the secret %j', (short) => {
    expect(() => createInbox({ secret: short })).toThrow(ConfigurationError);
  });

  it('rejects `confirm` without a way to read the status', () => {
    expect(() => createInbox({ secret, confirm: true })).toThrow(
      '`confirm: true` needs `status`. Pass `(fileId) => media.generate.status({ fileId })`.',
    );
  });

  it('makes inboxes that share their replay protection if they share a store', async () => {
    const seen = memorySeen();
    const [one, two] = [openInbox({ seen }), openInbox({ seen })];
    const url = await one.inbox.url(base);
    expect((await one.fetch(callbackRequest(url))).status).toBe(204);
    expect((await two.fetch(callbackRequest(url))).status).toBe(204);
    await expect(two.inbox.wait('file_1', { signal: AbortSignal.abort('none') })).rejects.toBe(
      'none',
    );
    expect((await two.fetch(callbackRequest(url, successBody('file_2')))).status).toBe(409);
  });
});
