import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { call, ok, someText } from '../../../support/testing/messaging-call.js';

/** A fake with Ann and a workflow of one long delay. */
async function waiting(): Promise<{ fake: FakeMessaging; path: string; contactId: string }> {
  const fake = createFakeMessaging();
  const { id } = await ok(fake, 'POST /workflows', { body: { name: 'Slow' } });
  const body = { type: 'DELAY', config: { amount: 2, unit: 'days' } };
  await ok(fake, `POST /workflows/${id}/steps`, { body });
  const ann = await ok(fake, 'POST /contacts', { body: { email: 'ann@example.com' } });
  return { fake, path: `/workflows/${id}`, contactId: ann.id };
}

describe('messaging, Workflows: executions', () => {
  it('POST starts one for a contact, with an optional context', async () => {
    const { fake, path, contactId } = await waiting();
    const body = { contactId, context: { coupon: 'MAY' } };
    const execution = await ok(fake, `POST ${path}/executions`, { body });
    expect(execution).toMatchObject({ id: someText, ...body, status: 'WAITING' });
    expect(await ok(fake, `GET ${path}/executions/${execution.id}`)).toEqual(execution);
  });

  it('POST needs a contact that exists', async () => {
    const { fake, path } = await waiting();
    expect((await call(fake, `POST ${path}/executions`, { body: {} })).status).toBe(422);
    const body = { contactId: 'con_000099' };
    expect((await call(fake, `POST ${path}/executions`, { body })).status).toBe(404);
  });

  it('allowReentry lets a contact in again, which is refused without it', async () => {
    const { fake, path, contactId } = await waiting();
    await ok(fake, `POST ${path}/executions`, { body: { contactId } });
    const again = await call(fake, `POST ${path}/executions`, { body: { contactId } });
    expect(again.status).toBe(400);
    await ok(fake, `PATCH ${path}`, { body: { allowReentry: true } });
    await ok(fake, `POST ${path}/executions`, { body: { contactId } });
  });

  it('GET lists them, filterable by status', async () => {
    const { fake, path, contactId } = await waiting();
    const { id } = await ok(fake, `POST ${path}/executions`, { body: { contactId } });
    expect(await ok(fake, `GET ${path}/executions?status=WAITING`)).toMatchObject({
      executions: [{ id }],
      total: 1,
    });
    expect(await ok(fake, `GET ${path}/executions?status=COMPLETED`)).toMatchObject({ total: 0 });
    await fake.advance('2d');
    expect(await ok(fake, `GET ${path}/executions?status=COMPLETED`)).toMatchObject({ total: 1 });
  });

  it('DELETE cancels a waiting execution, also when asked twice', async () => {
    const { fake, path, contactId } = await waiting();
    const { id } = await ok(fake, `POST ${path}/executions`, { body: { contactId } });
    await ok(fake, `DELETE ${path}/executions/${id}`);
    await ok(fake, `DELETE ${path}/executions/${id}`);
    await fake.advance('3d');
    expect((await ok(fake, `GET ${path}/executions/${id}`)).status).toBe('CANCELLED');
  });

  it('DELETE refuses an execution that is complete', async () => {
    const { fake, path, contactId } = await waiting();
    const { id } = await ok(fake, `POST ${path}/executions`, { body: { contactId } });
    await fake.advance('2d');
    expect((await call(fake, `DELETE ${path}/executions/${id}`)).status).toBe(400);
  });

  it('cancel-all cancels every active execution', async () => {
    const { fake, path } = await waiting();
    for (const { id } of fake.seed({ contacts: 3 }).contacts) {
      await ok(fake, `POST ${path}/executions`, { body: { contactId: id } });
    }
    expect(await ok(fake, `POST ${path}/executions/cancel-all`)).toEqual({ cancelled: 3 });
    expect(await ok(fake, `POST ${path}/executions/cancel-all`)).toEqual({ cancelled: 0 });
  });

  it('a deleted contact goes no further', async () => {
    const { fake, path, contactId } = await waiting();
    const body = { type: 'SEND_EMAIL', config: { subject: 'Hi', body: 'Hi' } };
    const { id: toStepId } = await ok(fake, `POST ${path}/steps`, { body });
    const [fromStepId] = [...(fake.project.workflows.values().next().value?.steps.keys() ?? [])];
    await ok(fake, `POST ${path}/transitions`, { body: { fromStepId, toStepId } });
    const { id } = await ok(fake, `POST ${path}/executions`, { body: { contactId } });
    await ok(fake, `DELETE /contacts/${contactId}`);
    await fake.advance('2d');
    expect((await ok(fake, `GET ${path}/executions/${id}`)).status).toBe('CANCELLED');
    expect(fake.outbox).toHaveLength(0);
  });
});
