import { afterEach, describe, expect, it } from 'vitest';
import { answering, mediaOver, messagingOver } from '../support/clients.js';

const limit = Error.stackTraceLimit;
afterEach(() => {
  Error.stackTraceLimit = limit;
});

/** The first line of a stack that does not lie in the package. */
function firstOutside(error: unknown): string {
  const lines = (error as Error).stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return lines.find((line) => !/[\\/]src[\\/]/.test(line)) ?? '';
}

const refused = answering(() => new Response(null, { status: 404 })).fetch;
const lost = () => Promise.reject(new TypeError('fetch failed'));
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

describe('the stack of an error leads to the line of the user', () => {
  const messaging = messagingOver(refused, { retries: 0 });
  const calls: Record<string, () => PromiseLike<unknown>> = {
    userGets: async function userGets() {
      await messaging.contacts.get('con_1');
    },
    userSends: async function userSends() {
      await messaging.send(mail);
    },
    userLists: async function userLists() {
      await messaging.contacts.list();
    },
    userRequests: async function userRequests() {
      await messaging.request('GET', '/other');
    },
    userLosesTheConnection: async function userLosesTheConnection() {
      await messagingOver(lost, { retries: 0 }).send(mail);
    },
    userGivesBadInput: async function userGivesBadInput() {
      await messaging.send({ ...mail, to: 'nobody' });
    },
    userNamesNoId: async function userNamesNoId() {
      await messaging.contacts.get('');
    },
    userGetsNoFiles: async function userGetsNoFiles() {
      const media = mediaOver(answering(() => ({})).fetch, { retries: 0 });
      await media.generate.audio({ content: 'Hi', voiceId: 'voice_1' });
    },
    userWaits: async function userWaits() {
      await mediaOver(refused, { retries: 0 }).waitForFile('file_1');
    },
    userQueues: async function userQueues() {
      const media = mediaOver(refused, { retries: 0 });
      for await (const { error } of media.queue([{ content: 'Hi' } as never])) {
        throw error;
      }
    },
    userAsksForStatus: async function userAsksForStatus() {
      await mediaOver(refused, { retries: 0 }).generate.status({ fileId: 'file_1' });
    },
  };

  it.each(Object.entries(calls))('%s', async (name, call) => {
    const error: unknown = await Promise.resolve(call()).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(Error);
    expect(firstOutside(error)).toMatch(new RegExp(`${name}|call-site\\.test`));
    expect((error as Error).stack).toContain((error as Error).message);
  });

  it('and leaves the limit of the program as it was', async () => {
    Error.stackTraceLimit = 3;
    await messaging.contacts.get('con_1').safe();
    expect(Error.stackTraceLimit).toBe(3);
  });

  it('and leaves the reason of an abort alone', async () => {
    const reason = new Error('enough');
    const { stack } = reason;
    const call = messaging.contacts.get('con_1', { signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBe(reason);
    expect(reason.stack).toBe(stack);
  });
});

describe('an error of a lost connection', () => {
  it('names the host and the code of the system, and tells its cause as JSON', async () => {
    const inner = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), {
      code: 'ECONNREFUSED',
    });
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: inner }));
    const { error } = await messagingOver(fetch, { retries: 0 }).send(mail).safe();
    expect(error?.message).toBe('POST /v1/send could not reach messaging.test (ECONNREFUSED).');
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      cause: { name: 'TypeError', message: 'fetch failed', cause: { code: 'ECONNREFUSED' } },
    });
  });
});
