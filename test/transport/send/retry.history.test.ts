import type { SendRequest } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { scripted, step } from '../../support/script.js';

const mail: SendRequest = {
  from: 'shop@example.com',
  to: 'ann@example.com',
  subject: 'Hi',
  body: '<p>Hi</p>',
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('after an attempt that may have happened', () => {
  it('a delete whose repeat finds nothing has happened', async () => {
    const { client, requests } = scripted([step.lost, step.status(404)]);
    const call = client.contacts.delete('con_1');
    await vi.runAllTimersAsync();
    await expect(call).resolves.toEqual({});
    expect(call.outcome).toBeUndefined();
    expect(requests).toHaveLength(2);
  });

  it.each([400, 401, 403, 409, 422])(
    'a repeat that is refused with %i leaves it unknown',
    async (status) => {
      const { client } = scripted([step.lost, step.status(status)]);
      const call = client.contacts.delete('con_1');
      const failed = expect(call).rejects.toMatchObject({ status, outcome: 'unknown' });
      await vi.runAllTimersAsync();
      await failed;
      expect(call.outcome).toBe('unknown');
    },
  );

  it('a repeat that never left leaves it unknown', async () => {
    const { client } = scripted([step.lost, step.refused, step.refused]);
    const failed = expect(client.contacts.delete('con_1')).rejects.toMatchObject({
      code: 'NOT_CONNECTED',
      outcome: 'unknown',
    });
    await vi.runAllTimersAsync();
    await failed;
  });

  it('an abort before the repeat leaves it unknown', async () => {
    vi.spyOn(Math, 'random').mockReturnValueOnce(0.9);
    const { client } = scripted([step.lost]);
    const controller = new AbortController();
    const call = client.contacts.delete('con_1', { signal: controller.signal });
    const aborted = expect(call).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(100);
    controller.abort('enough');
    await aborted;
    expect(call.outcome).toBe('unknown');
  });

  it('a repeat that succeeds is a success', async () => {
    const { client } = scripted([step.lost, step.status(503)]);
    const call = client.contacts.delete('con_1');
    await vi.runAllTimersAsync();
    await call;
    expect(call.outcome).toBeUndefined();
  });
});

describe('without an attempt that may have happened', () => {
  it('a delete that finds nothing has found nothing', async () => {
    const { client } = scripted([step.status(429, { 'retry-after': '1' }), step.status(404)]);
    const failed = expect(client.contacts.delete('con_1')).rejects.toMatchObject({
      name: 'NotFoundError',
      outcome: 'rejected',
    });
    await vi.runAllTimersAsync();
    await failed;
  });

  it('a read is never unknown', async () => {
    const { client } = scripted([step.lost, step.status(422)]);
    const failed = expect(client.contacts.get('con_1')).rejects.toMatchObject({
      outcome: 'rejected',
    });
    await vi.runAllTimersAsync();
    await failed;
  });
});

describe('a call that is refused with 401', () => {
  it('is sent once more with the key that a function then gives, whatever it does', async () => {
    const keys = ['sk_old', 'sk_new'];
    const apiKey = vi.fn(() => Promise.resolve(keys.shift()!));
    const { client, requests, retries } = scripted([step.status(401)], { apiKey, retries: 0 });
    await client.send(mail);
    expect(apiKey).toHaveBeenCalledTimes(2);
    expect(retries).toEqual([]);
    const sent = requests.map(({ headers }) => headers.get('authorization'));
    expect(sent).toEqual(['Bearer sk_old', 'Bearer sk_new']);
  });

  it('is not sent a third time', async () => {
    const keys = ['sk_old', 'sk_new', 'sk_newer'];
    const apiKey = () => Promise.resolve(keys.shift()!);
    const { client, requests } = scripted([step.status(401), step.status(401)], { apiKey });
    await expect(client.send(mail)).rejects.toMatchObject({
      name: 'AuthenticationError',
      outcome: 'rejected',
    });
    expect(requests).toHaveLength(2);
  });

  it('is not sent again with the key it was given', async () => {
    const { client, requests } = scripted([step.status(401)]);
    await expect(client.send(mail)).rejects.toMatchObject({ name: 'AuthenticationError' });
    expect(requests).toHaveLength(1);
  });
});
