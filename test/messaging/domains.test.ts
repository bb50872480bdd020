import type { DomainCreate } from 'postreel';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const domain = { id: 'dom_1', domain: 'shop.example.com', records: [{ type: 'TXT' }] };

describe('domains', () => {
  it.each([
    ['nothing for a text', { domain: null }, 'must be a string; got null'],
    ['a value that is not text', { domain: 7 }, 'must be a string; got 7'],
  ])('rejects %s before a request', async (_, body, message) => {
    const messaging = messagingOver(() => {
      throw new Error('must not reach the network');
    });
    const call = messaging.domains.create(body as unknown as DomainCreate); // wrong on purpose
    await expect(call).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field: 'domain', message }],
    });
  });

  it('returns the DNS records to add, and sends additional fields', async () => {
    const { fetch, requests } = answering(() => domain);
    const body = { domain: 'shop.example.com', projectId: 'prj_1', region: 'eu' };
    await expect(messagingOver(fetch).domains.create(body)).resolves.toEqual(domain);
    await expect(requests[0]?.json()).resolves.toEqual(body);
  });

  it('lists the domains of a project, under any field name', async () => {
    const { fetch, requests } = answering(() => ({ domains: [domain] }));
    await expect(messagingOver(fetch).domains.list('prj_1').toArray()).resolves.toEqual([domain]);
    expect(new URL(requests[0]?.url ?? '').pathname).toBe('/domains/project/prj_1');
  });

  it('checks a domain again after a 503, because a check can be repeated', async () => {
    const answers = [
      new Response(null, { status: 503, headers: { 'retry-after': '0' } }),
      Response.json({ verified: true }),
    ];
    const { fetch, requests } = answering(() => answers.shift());
    await expect(messagingOver(fetch).domains.verify('dom_1')).resolves.toEqual({ verified: true });
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  it('never adds a domain twice', async () => {
    const { fetch, requests } = answering(() => new Response(null, { status: 503 }));
    const call = messagingOver(fetch).domains.create({ domain: 'shop.example.com' });
    await expect(call).rejects.toMatchObject({ outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });
});
