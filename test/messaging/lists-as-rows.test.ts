import { expect, it } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';

it('the list of one client is a source of rows for another', async () => {
  const listed = { data: [{ id: 'con_1', email: 'ann@example.com' }], hasMore: false };
  const sent: unknown[] = [];
  const { fetch } = answering(async (request) => {
    if (request.method === 'GET') {
      return request.url.includes('/contacts?') ? listed : { status: 'completed', deleted: 1 };
    }
    sent.push(await request.json());
    return { jobId: 'job_1' };
  });
  const client = messagingOver(fetch);
  async function* ids() {
    for await (const { id } of client.contacts.list()) {
      yield id;
    }
  }
  await client.contacts.deleteAll(ids());
  expect(sent).toEqual([{ contactIds: ['con_1'] }]);
  const rows = client.contacts.list() as unknown as AsyncIterable<string>; // contacts are not ids
  const report = await client.contacts.deleteAll(rows);
  expect(report.failed).toMatchObject([{ index: 0 }]); // it was read
});
