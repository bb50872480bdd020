import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';

const wait = { interval: 5 };

function scene() {
  const fake = createFakeMessaging();
  return { fake, messaging: new MessagingClient({ ...fake.options, rateLimit: false }) };
}

/** A service that takes every part but some, and keeps what it got. */
function countingService(fails: (call: number) => boolean = () => false) {
  const parts: string[] = [];
  let starts = 0;
  const messaging = messagingOver(async (input, init) => {
    const request = new Request(input, init);
    if (request.method === 'GET') {
      return Response.json({ id: 'job', status: 'completed' });
    }
    starts++;
    if (fails(starts)) {
      return Response.json({ error: 'no' }, { status: 400 });
    }
    const isForm = request.headers.get('content-type')?.startsWith('multipart') ?? false;
    const file = isForm ? ((await request.formData()).get('file') as File) : undefined; // a form's file
    parts.push(file ? await file.text() : await request.text());
    return Response.json({ jobId: `job_${starts}` });
  });
  return { messaging, parts };
}

function* ids(count: number) {
  for (let index = 0; index < count; index++) {
    yield `con_${index}`;
  }
}

describe('subscribeAll, unsubscribeAll and deleteAll', () => {
  it('change any number of contacts, where one call takes 1000', async () => {
    const { messaging, parts } = countingService();
    const seen: number[] = [];
    const onProgress = ({ done }: { done: number }) => seen.push(done);
    const result = await messaging.contacts.subscribeAll(ids(2500), { wait, onProgress });
    expect(result).toMatchObject({ done: 2500, failed: [] });
    expect(seen).toEqual([1000, 2000, 2500]);
    const sizes = parts.map((part) => (JSON.parse(part) as { contactIds: [] }).contactIds.length);
    expect(sizes).toEqual([1000, 1000, 500]);
  });

  it.each([0, 1000, 2000])('make no empty call for %i contacts', async (count) => {
    const { messaging, parts } = countingService();
    await messaging.contacts.deleteAll(ids(count), { wait });
    expect(parts).toHaveLength(count / 1000);
  });

  it('report the contacts whose job failed, and continue with the others', async () => {
    const { messaging } = countingService((call) => call === 2);
    const result = await messaging.contacts.deleteAll(ids(2001), { wait });
    expect(result.done).toBe(1001);
    expect(result.failed).toHaveLength(1000);
    expect(result.failed[0]).toMatchObject({ row: 'con_1000', index: 1000 });
    expect(result.failed[0]?.error).toMatchObject({ status: 400, outcome: 'rejected' });
  });

  it.each([
    ['subscribeAll', '/contacts/bulk-subscribe'],
    ['unsubscribeAll', '/contacts/bulk-unsubscribe'],
    ['deleteAll', '/contacts/bulk-delete'],
  ] as const)('make their own change: %s', async (method, path) => {
    const { fake, messaging } = scene();
    const { id } = await messaging.contacts.create({ email: 'ann@example.com' });
    await messaging.contacts[method]([id], { wait });
    const changes = fake.requests.filter((request) => request.method !== 'GET').slice(1);
    expect(changes.map((request) => request.path)).toEqual([path]);
  });

  it('end with the reason of an abort while they wait for the last job', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const messaging = messagingOver((input, init) => {
      if (new Request(input, init).method === 'GET') {
        controller.abort(reason);
      }
      return Promise.resolve(Response.json({ id: 'job', jobId: 'job_1', status: 'processing' }));
    });
    const options = { wait, signal: controller.signal };
    await expect(messaging.contacts.deleteAll(ids(1), options)).rejects.toMatchObject({
      name: 'PartialError',
      cause: reason,
    });
  });

  it('end with the reason of an abort', async () => {
    const { messaging } = countingService();
    const controller = new AbortController();
    const reason = new Error('enough');
    const onProgress = () => controller.abort(reason);
    const { signal } = controller;
    const call = messaging.contacts.unsubscribeAll(ids(3000), { wait, onProgress, signal });
    await expect(call).rejects.toMatchObject({ name: 'PartialError', cause: reason });
  });

  it('change contacts of the fake', async () => {
    const { messaging } = scene();
    const { id } = await messaging.contacts.create({ email: 'a@example.com', subscribed: false });
    await messaging.contacts.subscribeAll([id], { wait });
    expect((await messaging.contacts.get(id)).subscribed).toBe(true);
    await messaging.contacts.deleteAll([id], { wait });
    await expect(messaging.contacts.get(id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('importAll', () => {
  it('imports objects into the fake', async () => {
    const { messaging } = scene();
    const rows = [
      { email: 'ann@example.com', plan: 'pro, "large"' },
      { email: 'bea@example.com', note: 'two\nlines' },
    ];
    await expect(
      messaging.contacts.importAll(rows, { newContacts: 'subscribed', wait }),
    ).resolves.toMatchObject({
      done: 2,
      failed: [],
    });
    const ann = await messaging.contacts.findByEmail('ann@example.com');
    const bea = await messaging.contacts.findByEmail('BEA@example.com');
    expect(ann?.data).toMatchObject({ plan: 'pro, "large"' });
    expect(bea?.data).toMatchObject({ note: 'two\nlines' });
  });

  it('splits a file between rows, below 5 MB, with the header in each part', async () => {
    const { messaging, parts } = countingService();
    const rows = function* () {
      for (let index = 0; index < 1_200; index++) {
        yield { email: `contact-${index}@example.com`, note: 'é'.repeat(4_000) };
      }
    };
    const { done } = await messaging.contacts.importAll(rows(), {
      newContacts: 'subscribed',
      wait,
    });
    expect(done).toBe(1_200);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) {
      expect(new TextEncoder().encode(part).length).toBeLessThan(5 * 1024 * 1024);
      expect(part.startsWith('email,note\n')).toBe(true);
      expect(part.endsWith('\n')).toBe(true);
    }
    const lines = parts.flatMap((part) => part.trimEnd().split('\n').slice(1));
    expect(lines).toHaveLength(1_200);
    expect(lines.at(-1)).toMatch(/^contact-1199@example\.com,é+$/);
  });

  it('reports exactly the rows of a failed part', async () => {
    const { messaging } = countingService((call) => call === 2);
    const rows = Array.from({ length: 11 }, (_, index) => ({
      email: `contact-${index}@example.com`,
      note: 'x'.repeat(170_000),
    }));
    const { done, failed } = await messaging.contacts.importAll(rows, {
      newContacts: 'subscribed',
      wait,
    });
    expect(done).toBe(8);
    expect(failed.map(({ index }) => index)).toEqual([3, 4, 5]);
    expect(failed[0]?.error).toMatchObject({ outcome: 'rejected' });
  });

  it('splits the pieces of a CSV file between rows, not at line breaks inside quotes', async () => {
    const { messaging, parts } = countingService();
    const csv = 'email,note\r\nann@example.com,"a\nb ""c"""\r\nbea@example.com,ü';
    const bytes = new TextEncoder().encode(csv);
    const pieces = async function* () {
      for (const byte of bytes) {
        yield await Promise.resolve(Uint8Array.of(byte));
      }
    };
    const { done } = await messaging.contacts.importAll(pieces(), {
      newContacts: 'subscribed',
      wait,
    });
    expect(done).toBe(2);
    expect(parts).toEqual(['email,note\nann@example.com,"a\nb ""c"""\nbea@example.com,ü\n']);
  });

  it('splits one piece of a CSV file into several parts', async () => {
    const { messaging, parts } = countingService();
    const lines = Array.from({ length: 9 }, (_, index) => `p${index}@b.c,${'x'.repeat(170_000)}`);
    const pieces = async function* () {
      yield await Promise.resolve(`email,note\n${lines.join('\n')}`);
    };
    const { done } = await messaging.contacts.importAll(pieces(), {
      newContacts: 'subscribed',
      wait,
    });
    expect(done).toBe(9);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.flatMap((part) => part.trimEnd().split('\n').slice(1))).toEqual(lines);
    expect(parts.every((part) => part.startsWith('email,note\n'))).toBe(true);
  });

  it('ends with the reason of an abort while it waits for the last part', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const messaging = messagingOver((input, init) => {
      if (new Request(input, init).method === 'GET') {
        controller.abort(reason);
      }
      return Promise.resolve(Response.json({ id: 'job', jobId: 'job_1', status: 'processing' }));
    });
    const options = { newContacts: 'subscribed', wait, signal: controller.signal } as const;
    const rows = [{ email: 'ann@example.com' }];
    await expect(messaging.contacts.importAll(rows, options)).rejects.toMatchObject({
      name: 'PartialError',
      cause: reason,
    });
  });

  it('makes no request without rows', async () => {
    const { messaging, parts } = countingService();
    await expect(messaging.contacts.importAll([])).resolves.toMatchObject({ done: 0 });
    expect(parts).toEqual([]);
  });
});

describe('contacts by email', () => {
  it('finds the whole address although the search matches parts', async () => {
    const { messaging } = scene();
    await messaging.contacts.create({ email: 'joann@example.com' });
    const { id } = await messaging.contacts.create({ email: 'ann@example.com' });
    expect((await messaging.contacts.findByEmail('Ann@Example.com'))?.id).toBe(id);
    expect(await messaging.contacts.findByEmail('nn@example.com')).toBeUndefined();
  });

  it('finds an address that the service stores in capitals', async () => {
    const contact = { id: 'con_1', email: 'Ann@Example.com', subscribed: true, data: null };
    const messaging = messagingOver(() => Promise.resolve(Response.json({ contacts: [contact] })));
    expect((await messaging.contacts.findByEmail(' ann@example.com '))?.id).toBe('con_1');
  });

  it('subscribes and unsubscribes by email or id, and never creates a contact', async () => {
    const { messaging } = scene();
    const { id } = await messaging.contacts.create({ email: 'ann@example.com' });
    expect((await messaging.contacts.unsubscribe('ann@example.com')).subscribed).toBe(false);
    expect((await messaging.contacts.subscribe(id)).subscribed).toBe(true);
    await expect(messaging.contacts.subscribe('nobody@example.com')).rejects.toMatchObject({
      name: 'NotFoundError',
      code: 'CONTACT_NOT_FOUND',
      outcome: 'not-sent',
    });
    expect((await messaging.contacts.list()).total).toBe(1);
  });

  it('finds and changes a contact within one `deadline`', async () => {
    const { fake, messaging } = scene();
    await messaging.contacts.create({ email: 'ann@example.com' });
    fake.fail('GET /contacts', { slow: 700 });
    fake.fail('PATCH /contacts/{id}', { slow: 700 });
    await expect(
      messaging.contacts.unsubscribe('ann@example.com', { deadline: 1000 }),
    ).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('takes no `once`, because both calls can be repeated', async () => {
    const { fake, messaging } = scene();
    const options: object = { once: 'ann-1' };
    const refusal = { name: 'InvalidRequestError', fieldErrors: [{ field: 'once' }] };
    await expect(messaging.contacts.subscribe('con_1', options)).rejects.toMatchObject(refusal);
    await expect(messaging.contacts.subscribe('con_1', options)).rejects.toThrow(
      'is not an option of `contacts.subscribe()`',
    );
    expect(fake.requests).toEqual([]);
  });
});

describe('the waits of many jobs', () => {
  it.each([
    ['importAll', (wait: object) => scene().messaging.contacts.importAll([], { wait })],
    ['deleteAll', (wait: object) => scene().messaging.contacts.deleteAll([], { wait })],
  ])('have no `signal` of their own in %s()', async (name, call) => {
    const run = call({ signal: new AbortController().signal });
    await expect(run).rejects.toThrow(`\`wait.signal\` is not an option of \`contacts.${name}()\``);
  });
});

it('lookupAll waits for no job, and rejects the options of a wait', async () => {
  const options: object = { wait };
  const next = scene().messaging.contacts.lookupAll(['ann@example.com'], options).next();
  await expect(next).rejects.toThrow('`wait` is not an option of `contacts.lookupAll()`');
});

describe('verifyAll', () => {
  it('yields one result per address, in order, with the error of a failed check', async () => {
    const { messaging } = scene();
    const emails = ['ann@example.com', 'not an address', 'bea@example.com'];
    const results = [];
    for await (const result of messaging.verifyAll(emails)) {
      results.push(result);
    }
    expect(results.map(({ email }) => email)).toEqual(emails);
    expect(results[0]?.verification).toMatchObject({ email: 'ann@example.com' });
    expect(results[1]?.error).toMatchObject({ name: 'UnprocessableError' }); // the service's own verdict
  });

  it('checks at most 20 at a time', async () => {
    let underWay = 0;
    let most = 0;
    const messaging = messagingOver(async () => {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      return Response.json({ success: true, data: { email: 'a@example.com', valid: true } });
    });
    const emails = Array.from({ length: 65 }, (_, index) => `a${index}@example.com`);
    let count = 0;
    for await (const { email } of messaging.verifyAll(emails)) {
      expect(email).toBe(emails[count++]);
    }
    expect([count, most]).toEqual([65, 20]);
  });
});
