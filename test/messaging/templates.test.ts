import { MessagingClient } from 'postreel';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const messaging = new MessagingClient({
  apiKey: 'sk_test',
  baseUrl: 'https://messaging.test',
  retries: 0,
  rateLimit: false,
  fetch: () => {
    throw new Error('must not reach the network');
  },
});

const content = {
  name: 'Welcome',
  subject: 'Welcome',
  body: '<p>Hi</p>',
  type: 'TRANSACTIONAL',
} as const;
const template = { ...content, id: 'tpl_1', createdAt: '2026-11-21T09:30:00.000Z' };

const refusal = (field: string, message: unknown) => ({
  name: 'InvalidRequestError',
  outcome: 'not-sent',
  fieldErrors: [{ field, message }],
});

describe('templates', () => {
  it.each(['\n', '\r', 'a\r\nBcc: b'])('rejects a subject with a line break', async (subject) => {
    await expect(messaging.templates.create({ ...content, subject })).rejects.toMatchObject(
      refusal('subject', 'must not contain a line break'),
    );
  });

  it('rejects a subject of more than 998 characters, and names its length', async () => {
    const subject = 'x'.repeat(999);
    await expect(messaging.templates.update('tpl_1', { subject })).rejects.toMatchObject(
      refusal('subject', 'must be at most 998 characters; got 999'),
    );
  });

  it('rejects an empty subject', async () => {
    await expect(messaging.templates.create({ ...content, subject: '' })).rejects.toMatchObject(
      refusal('subject', 'must not be empty'),
    );
  });

  it.each(['name', 'subject', 'body', 'type'] as const)('requires %s to create', async (field) => {
    const body = { ...content, [field]: undefined }; // a field short
    await expect(messaging.templates.create(body)).rejects.toMatchObject(
      refusal(field, 'is required'),
    );
  });

  it('rejects an unknown type', async () => {
    const type = 'NEWS' as 'MARKETING'; // what JavaScript callers may pass
    const problem = refusal('type', expect.stringContaining('"TRANSACTIONAL", "MARKETING"'));
    await expect(messaging.templates.create({ ...content, type })).rejects.toMatchObject(problem);
    await expect(messaging.templates.list({ type })).rejects.toMatchObject(problem);
  });

  it('rejects a sender that is not an address', async () => {
    await expect(messaging.templates.update('tpl_1', { from: 'shop' })).rejects.toMatchObject(
      refusal('from', 'must be an email address'),
    );
  });

  it.each([0, 101, 1.5])('rejects pages of %d', async (limit) => {
    await expect(messaging.templates.list({ limit })).rejects.toMatchObject(
      refusal('limit', expect.any(String)),
    );
  });

  it('sends fields that the document does not show', async () => {
    const { fetch, requests } = answering();
    const body = { ...content, subject: 'x'.repeat(998), replyTo: 'help@example.com' };
    await messagingOver(fetch).templates.create(body);
    expect(await requests[0]?.json()).toEqual(body);
  });

  it('updates only the given fields', async () => {
    const { fetch, requests } = answering();
    await messagingOver(fetch).templates.update('tpl_1', { name: 'Hello' });
    expect(requests[0]?.method).toBe('PATCH');
    expect(await requests[0]?.json()).toEqual({ name: 'Hello' });
  });

  it('continues by page if the response counts pages', async () => {
    const { fetch, requests } = answering((request) => {
      const page = Number(new URL(request.url).searchParams.get('page') ?? 1);
      const templates = [{ ...template, id: `tpl_${page}` }];
      return { templates, total: 3, page, pageSize: 1, totalPages: 3 };
    });
    const list = messagingOver(fetch).templates.list({ limit: 1, type: 'TRANSACTIONAL' });
    const ids = (await list.toArray()).map(({ id }) => id);
    expect(ids).toEqual(['tpl_1', 'tpl_2', 'tpl_3']);
    expect(new URL(requests[2]?.url ?? '').search).toBe('?limit=1&type=TRANSACTIONAL&page=3');
  });

  it('continues by cursor if the response has one', async () => {
    const { fetch, requests } = answering((request) => {
      const isSecond = new URL(request.url).searchParams.get('cursor') === 'next';
      const templates = [{ ...template, id: isSecond ? 'tpl_2' : 'tpl_1' }];
      return { templates, total: 2, page: 1, pageSize: 1, cursor: isSecond ? null : 'next' };
    });
    const list = messagingOver(fetch).templates.list({ limit: 1 });
    const page = await list;
    const next = await page.nextPage();
    expect(next?.items.map(({ id }) => id)).toEqual(['tpl_2']);
    expect(new URL(requests[1]?.url ?? '').searchParams.has('page')).toBe(false);
  });

  it('returns the id of a copy', async () => {
    const { fetch, requests } = answering(() => ({ id: 'tpl_2' }));
    const copy = await messagingOver(fetch).templates.duplicate('tpl_1');
    expect(copy.id).toBe('tpl_2');
    expect(requests[0]?.url).toBe('https://messaging.test/templates/tpl_1/duplicate');
  });
});
