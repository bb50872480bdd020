import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { scripted, step } from '../../support/script.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A call whose key comes from a function; what comes of it, and which keys were sent. */
async function called(
  steps: Parameters<typeof scripted>[0],
  apiKey: (count: number) => string = (count) => `sk_test_${count}`,
) {
  let count = 0;
  const { client, requests } = scripted(steps, { apiKey: () => apiKey(++count) });
  const end = client.contacts.get('con_1').catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  const sent = requests.map(({ headers }) => headers.get('authorization'));
  return { end: await end, sent };
}

describe('a key that is refused', () => {
  it('is renewed once, also when the call is repeated later', async () => {
    const steps = [step.status(401), step.status(503), step.status(401)];
    const { end, sent } = await called(steps);
    expect(end).toMatchObject({ status: 401, outcome: 'rejected' });
    expect(sent).toEqual(['Bearer sk_test_1', 'Bearer sk_test_2', 'Bearer sk_test_2']);
  });

  it('is not renewed for what it may not do', async () => {
    const { end, sent } = await called([step.status(403)]);
    expect(end).toMatchObject({ status: 403 });
    expect(sent).toEqual(['Bearer sk_test_1']);
  });

  it('is not replaced by one that may do less', async () => {
    const keys = (count: number) => (count === 1 ? 'sk_test_1' : 'pk_test_1');
    const { end, sent } = await called([step.status(401)], keys);
    expect(end).toMatchObject({ code: 'SECRET_KEY_NEEDED', outcome: 'rejected' });
    expect(sent).toEqual(['Bearer sk_test_1']);
  });

  it('leaves the call rejected when there is no other: the service did see it', async () => {
    const { end, sent } = await called([step.status(401)], (count) => {
      if (count > 1) {
        throw new Error('the vault is closed');
      }
      return 'sk_test_1';
    });
    expect(end).toMatchObject({ code: 'API_KEY_UNAVAILABLE', outcome: 'rejected' });
    expect(sent).toEqual(['Bearer sk_test_1']);
  });
});
