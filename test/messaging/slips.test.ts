import type { Contact, SendRequest } from 'postreel';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const unreachable = messagingOver(() => {
  throw new Error('must not reach the network');
});
const message = { from: 'shop@example.com', subject: 'Hi', body: '<p>Hi</p>' };

describe('ids', () => {
  it.each([7, 2 ** 53, NaN])('%s is not an id in a path', async (id) => {
    const call = unreachable.contacts.delete(id as never); // wrong on purpose
    await expect(call).rejects.toMatchObject({
      outcome: 'not-sent',
      fieldErrors: [{ field: 'id' }],
    });
  });

  it.each([7, 2 ** 53])('%s is not an id in a body', async (id) => {
    const body = { contactIds: ['con_1', id] } as never; // wrong on purpose
    await expect(unreachable.contacts.bulkDelete(body)).rejects.toMatchObject({
      outcome: 'not-sent',
      fieldErrors: [{ field: expect.stringMatching(/^contactIds/) as string }],
    });
  });

  it('NaN is not a number in a query', async () => {
    const call = unreachable.request('GET', '/contacts', { query: { page: NaN } });
    await expect(call).rejects.toMatchObject({ outcome: 'not-sent' });
  });
});

describe('a line break', () => {
  const named = { email: 'a@example.com', name: 'Ann\r\nBcc: eve@example.com' };
  it.each<[string, Partial<SendRequest>]>([
    ['from.name', { from: named }],
    ['to.name', { to: named }],
    ['to[1].name', { to: ['a@example.com', named] }],
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- it is sent all the same
    ['name', { name: 'Ann\nBcc: eve@example.com' }],
    ['attachments[0].filename', { attachments: [{ filename: 'a.pdf"\r\nX: y', content: 'YQ==' }] }],
  ])('is rejected in %s', async (field, fields) => {
    const body = { ...message, to: 'a@example.com', ...fields } as SendRequest; // of its fields
    await expect(unreachable.send(body)).rejects.toMatchObject({
      outcome: 'not-sent',
      fieldErrors: [{ field, message: 'must not contain a line break' }],
    });
  });

  it('is rejected in `fromName` of a campaign', async () => {
    const campaign = { ...message, name: 'A', audienceType: 'ALL', fromName: 'A\nB' } as const;
    await expect(unreachable.campaigns.create(campaign)).rejects.toMatchObject({
      fieldErrors: [{ field: 'fromName', message: 'must not contain a line break' }],
    });
  });
});

describe('the condition of a segment', () => {
  it.each([{}, { and: [] }])(
    '%j is rejected, because it may select everybody',
    async (condition) => {
      const fieldErrors = [
        { field: 'condition', message: expect.stringContaining("`audienceType: 'ALL'`") as string },
      ];
      const created = unreachable.segments.create({ type: 'DYNAMIC', name: 'A', condition });
      await expect(created).rejects.toMatchObject({ fieldErrors });
      const updated = unreachable.segments.update('seg_1', { condition });
      await expect(updated).rejects.toMatchObject({ fieldErrors });
    },
  );
});

describe('contacts whose emails differ in case', () => {
  const contact = (id: string, email: string | undefined) =>
    ({ id, email, subscribed: true, data: null }) as Contact;
  const project = (...contacts: Contact[]) => {
    const { fetch, requests } = answering((request) =>
      request.method === 'GET' ? { contacts, hasMore: false } : contacts[0],
    );
    const patched = () =>
      requests.filter(({ method }) => method === 'PATCH').map(({ url }) => new URL(url).pathname);
    return { messaging: messagingOver(fetch), patched };
  };

  it.each(['subscribe', 'unsubscribe'] as const)('an exact match wins: %s', async (method) => {
    const { messaging, patched } = project(
      contact('con_1', 'Ann@example.com'),
      contact('con_2', 'ann@example.com'),
    );
    await messaging.contacts[method]('ann@example.com');
    expect(patched()).toEqual(['/contacts/con_2']);
  });

  it('two inexact matches are rejected, and nothing is changed', async () => {
    const { messaging, patched } = project(
      contact('con_1', 'Ann@example.com'),
      contact('con_2', 'aNN@example.com'),
    );
    const refusal = { name: 'ConflictError', code: 'EMAIL_AMBIGUOUS', outcome: 'not-sent' };
    await expect(messaging.contacts.unsubscribe('ann@example.com')).rejects.toMatchObject(refusal);
    await expect(messaging.contacts.findByEmail('ann@example.com')).rejects.toMatchObject(refusal);
    expect(patched()).toEqual([]);
  });

  it('a contact without an email is never found', async () => {
    const { messaging, patched } = project(
      contact('con_1', undefined),
      contact('con_2', 'Ann@example.com'),
    );
    await messaging.contacts.unsubscribe('ann@example.com');
    expect(patched()).toEqual(['/contacts/con_2']);
  });
});
