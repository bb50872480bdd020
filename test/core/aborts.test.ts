import { getEventListeners } from 'node:events';
import { ConnectionError, PostreelError } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import { scripted, step, type Step } from '../support/script.js';
import { settledInTime } from '../support/settled.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('an abort', () => {
  it('before the call prevents the request', async () => {
    const { client, requests } = scripted([]);
    const call = client.send(mail, { signal: AbortSignal.abort('enough') });
    await expect(call).rejects.toBe('enough');
    expect(call.outcome).toBe('not-sent');
    expect(requests).toEqual([]);
  });

  it('of a request in flight makes the outcome unknown, on the call and in its event', async () => {
    const { client } = scripted([step.silence]);
    const outcomes: unknown[] = [];
    client.on('response', ({ outcome }) => outcomes.push(outcome));
    const controller = new AbortController();
    const call = client.send(mail, { signal: controller.signal });
    setTimeout(() => controller.abort('enough'), 100);
    expect(await settledInTime(() => call)).toMatchObject({ error: 'enough', tookMs: 100 });
    expect([call.outcome, outcomes]).toEqual(['unknown', ['unknown']]);
  });

  it('of a read makes the outcome rejected, because a read has no effect', async () => {
    const { client } = scripted([step.silence]);
    const controller = new AbortController();
    const call = client.contacts.get('con_1', { signal: controller.signal });
    setTimeout(() => controller.abort('enough'), 100);
    await settledInTime(() => call);
    expect(call.outcome).toBe('rejected');
  });

  it('during the pause before a retry ends the pause at once and leaves no timer', async () => {
    const { client, requests } = scripted([step.status(429, { 'retry-after': '7' })]);
    const controller = new AbortController();
    const call = client.contacts.get('con_1', { signal: controller.signal });
    const aborted = expect(call).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(3_000);
    controller.abort('enough');
    await aborted;
    expect([requests.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('in the queue of the rate limit neither takes nor releases a slot', async () => {
    const rateLimit = { limit: 1, windowMs: 3_600_000, group: 'aborts' };
    const { client, requests } = scripted([], { rateLimit });
    await client.contacts.get('con_1');
    const controller = new AbortController();
    const call = client.send(mail, { signal: controller.signal });
    const aborted = expect(call).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(0);
    expect(client.rateLimit.state()).toMatchObject({ used: 1, queued: 1 });
    controller.abort('enough');
    await aborted;
    expect(client.rateLimit.state()).toMatchObject({ used: 1, queued: 0 });
    expect([call.outcome, requests.length]).toEqual(['not-sent', 1]);
  });

  it('of a request in flight keeps its slot taken', async () => {
    const rateLimit = { limit: 5, windowMs: 3_600_000, group: 'aborts on the way' };
    const { client } = scripted([step.silence], { rateLimit });
    const controller = new AbortController();
    const call = client.send(mail, { signal: controller.signal });
    setTimeout(() => controller.abort('enough'), 100);
    await settledInTime(() => call);
    expect(client.rateLimit.state()).toMatchObject({ used: 1 });
  });

  it('after the end of the call changes nothing', async () => {
    const { client } = scripted([]);
    const controller = new AbortController();
    const call = client.contacts.get('con_1', { signal: controller.signal });
    const contact = await call;
    controller.abort();
    await expect(call).resolves.toBe(contact);
  });

  it('by `AbortSignal.timeout()` is a TimeoutError of the platform', async () => {
    vi.useRealTimers(); // it has no other clock
    const { client } = scripted([step.silence]);
    const call = client.send(mail, { signal: AbortSignal.timeout(20) });
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError', constructor: DOMException });
  });
});

describe('the reason of an abort', () => {
  it.each<[string, unknown]>([
    ['an error', new Error('left')],
    ['a text', 'left'],
    ['null', null],
    ['0', 0],
    ['an error of ours', new ConnectionError('other', { code: 'X', outcome: 'not-sent' })],
  ])('is the value that the call rejects with: %s', async (_, reason) => {
    const controller = new AbortController();
    const { client } = scripted([
      () => {
        controller.abort(reason);
        return new Promise<Response>(() => undefined);
      },
    ]);
    const call = client.send(mail, { signal: controller.signal });
    const thrown: unknown = await call.then(
      () => 'resolved',
      (error: unknown) => error,
    );
    expect(thrown).toBe(reason);
    expect(call.outcome).toBe('unknown');
    if (reason instanceof PostreelError) {
      expect(reason.outcome).toBe('not-sent'); // it speaks of another call
    }
  });
});

describe('a signal that many calls share', () => {
  it('has one listener while they run and none when they are over, however they ended', async () => {
    const answers: Step[] = [step.status(404), step.status(503), step.lost, step.silence];
    const { client } = scripted(Array.from({ length: 5 }, () => answers).flat());
    const { signal } = new AbortController();
    const calls = Array.from({ length: 20 }, () => client.contacts.get('con_1', { signal }).safe());
    await vi.advanceTimersByTimeAsync(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1); // Node warns at eleven
    await settledInTime(() => Promise.all(calls));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('a `fetch` that ignores an abort', () => {
  const endlessBody = () => {
    const state = { isCancelled: false };
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{')),
      cancel() {
        state.isCancelled = true;
      },
    });
    return { body, state };
  };

  it('has the body of its late answer cancelled', async () => {
    let answer: (response: Response) => void = () => undefined;
    const late = new Promise<Response>((resolve) => {
      answer = resolve;
    });
    const client = messagingOver(() => late);
    const controller = new AbortController();
    const call = client.send(mail, { signal: controller.signal });
    const end = expect(call).rejects.toBe('enough');
    await new Promise((resolve) => client.once('request', resolve));
    controller.abort('enough');
    await end;
    const { body, state } = endlessBody();
    answer(new Response(body));
    await vi.waitFor(() => expect(state.isCancelled).toBe(true));
  });

  it('has the body that is being read cancelled', async () => {
    const { body, state } = endlessBody();
    const { fetch } = answering(() => new Response(body));
    const { error } = await settledInTime(() => messagingOver(fetch).send(mail, { timeout: 50 }));
    expect(error).toMatchObject({ name: 'TimeoutError' });
    expect(state.isCancelled).toBe(true);
  });
});
