import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { expect, it } from 'vitest';

it('sends the field names of the caller if the document names none', async () => {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient({ ...fake.options, retries: 0 });
  await messaging.contacts.bulkUnsubscribe({ ids: ['con_1'] }).safe();
  await messaging.domains.create({ name: 'example.org' }).safe();
  await messaging.workflows.transitions.create('wfl_1', { sourceId: 'a', targetId: 'b' }).safe();
  await messaging.workflows.executions.start('wfl_1', { subscriberId: 'con_1' }).safe();
  expect(fake.requests.map(({ body }) => body)).toEqual([
    { ids: ['con_1'] },
    { name: 'example.org' },
    { sourceId: 'a', targetId: 'b' },
    { subscriberId: 'con_1' },
  ]);
});
