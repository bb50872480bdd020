import type { CallEndEvent } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadPart } from '../../src/transport/load-part.js';
import { performing } from '../../src/transport/transport.js';
import { answering, messagingOver } from '../support/clients.js';

/** The first call of a process: what sends is not there yet, and may not come. */
function withoutItsPart(tries: (() => Promise<never>)[] = []) {
  const part = performing.loaded;
  let loaded: typeof part;
  vi.spyOn(performing, 'loaded', 'get').mockImplementation(() => loaded);
  vi.spyOn(performing, 'load').mockImplementation(async () => {
    const missing = tries.shift();
    loaded = missing ? await loadPart(missing) : await Promise.resolve(part);
    return loaded!; // loaded by the setup of the tests
  });
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the first call of a process', () => {
  const contact = { id: 'con_1', email: 'ann@example.com' };
  const gone = () => Promise.reject(new TypeError('Failed to fetch module'));

  it('is not sent when its part is missing, and the next call tries again', async () => {
    withoutItsPart([gone]);
    const { fetch, requests } = answering(() => contact);
    const messaging = messagingOver(fetch);
    const ends: CallEndEvent[] = [];
    messaging.on('call:end', (event) => ends.push(event));
    const call = messaging.contacts.get('con_1');
    await expect(call).rejects.toMatchObject({ code: 'PART_MISSING', outcome: 'not-sent' });
    expect(call.outcome).toBe('not-sent');
    expect(requests).toHaveLength(0);
    await expect(messaging.contacts.get('con_1')).resolves.toMatchObject(contact);
    expect(ends.map(({ outcome }) => outcome)).toEqual(['not-sent', undefined]);
  });

  it('sends what its object held when it was made', async () => {
    withoutItsPart();
    const { fetch, requests } = answering(() => contact);
    const messaging = messagingOver(fetch);
    const body = { email: 'ann@example.com' };
    const calls = [messaging.contacts.create(body)];
    body.email = 'bea@example.com';
    calls.push(messaging.contacts.create(body));
    await Promise.all(calls);
    const bodies = await Promise.all(requests.map((request) => request.json()));
    expect(bodies).toEqual([{ email: 'ann@example.com' }, { email: 'bea@example.com' }]);
  });

  it('ends with an abort or a deadline while its part loads', async () => {
    const never = () => new Promise<never>(() => undefined);
    withoutItsPart([never, never]);
    const { fetch, requests } = answering(() => contact);
    const messaging = messagingOver(fetch);
    const reason = new Error('enough');
    const stop = new AbortController();
    const aborted = messaging.contacts.get('con_1', { signal: stop.signal });
    stop.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    const late = messaging.contacts.get('con_1', { deadline: 5 });
    await expect(late).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'not-sent' });
    expect(requests).toHaveLength(0);
  });
});
