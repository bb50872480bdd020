import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it, vi } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const content = {
  name: 'A',
  subject: 'Hi {{name}}',
  body: '{{plan ?? "none"}}',
  from: 'shop@example.com',
};

function furnished() {
  const fake = createFakeMessaging();
  const { secretKey: apiKey, baseUrl, fetch } = fake;
  return { fake, messaging: messagingOver(fetch, { apiKey, baseUrl }) };
}

describe('workflows.delete()', () => {
  it('cancels executions first if the service would reject the deletion', async () => {
    const { messaging } = furnished();
    const { id } = await messaging.workflows.create({ name: 'Welcome' });
    const wait = { type: 'DELAY', config: { duration: '1h' } } as const;
    await messaging.workflows.steps.create(id, wait);
    const contact = await messaging.contacts.create({ email: 'ann@example.com' });
    await messaging.workflows.update(id, { enabled: true });
    await messaging.workflows.executions.start(id, { contactId: contact.id });
    await expect(messaging.workflows.delete(id)).rejects.toMatchObject({ outcome: 'rejected' });
    await messaging.workflows.delete(id, { cancelExecutions: true });
    await expect(messaging.workflows.get(id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('projects.reset', () => {
  it('rejects the confirmation of another project', async () => {
    const messaging = messagingOver(() => {
      throw new Error('must not reach the network');
    });
    await expect(messaging.projects.reset('prj_1', { confirm: 'prj_2' })).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field: 'confirm', message: 'must be "prj_1", the project to reset' }],
    });
  });

  it('does not send the confirmation, and warns without one', async () => {
    const { fetch, requests } = answering(() => ({}));
    const messaging = messagingOver(fetch);
    const warned = vi.fn();
    messaging.on('warning', warned);
    await messaging.projects.reset('prj_1', { confirm: 'prj_1' });
    await expect(requests[0]?.text()).resolves.toBe('');
    expect(warned).not.toHaveBeenCalled();
    await messaging.projects.reset('prj_1');
    expect(warned).toHaveBeenCalledWith(
      expect.objectContaining({ message: expect.stringContaining('prj_1') as string }),
    );
  });
});

describe('contacts.fields.check', () => {
  it('lists the differences from the fields that a program expects', async () => {
    const { messaging } = furnished();
    const data = { plan: 'pro', seats: '3', city: 'Ulm' };
    await messaging.contacts.create({ email: 'ann@example.com', data });
    const { fields } = messaging.contacts;
    const expected = { plan: 'string', seats: 'number', trialEnds: 'date' };
    await expect(fields.check(expected)).resolves.toEqual({
      hasDrifted: true,
      missing: ['trialEnds'],
      different: [{ field: 'seats', expected: 'number', actual: 'string' }],
      unexpected: ['city'],
    });
    const same = { plan: 'string', seats: 'string', city: 'string' };
    await expect(fields.check(same)).resolves.toMatchObject({ hasDrifted: false });
  });
});

describe('campaigns', () => {
  it.each([undefined, null, '', 0, new Date('never')])(
    'schedule() rejects %s: the service would send to everybody now',
    async (at) => {
      for (const requests of ['throw', 'off'] as const) {
        const client = messagingOver(() => Promise.resolve(Response.json({})), {
          validation: { requests },
        });
        const call = client.campaigns.schedule('cmp_1', at as never); // wrong on purpose
        await expect(call).rejects.toMatchObject({ outcome: 'not-sent' });
      }
    },
  );

  it('schedule() rejects a past time', async () => {
    const { messaging } = furnished();
    const past = new Date(Date.now() - 3_600_000);
    await expect(messaging.campaigns.schedule('cmp_1', past)).rejects.toThrow(
      'must be in the future',
    );
  });

  it('schedule() and sendNow() schedule and send a campaign', async () => {
    const { messaging } = furnished();
    const one = await messaging.campaigns.create({ ...content, audienceType: 'ALL' });
    await messaging.campaigns.schedule(one.id, new Date(Date.now() + 3_600_000));
    expect((await messaging.campaigns.get(one.id)).status).toBe('SCHEDULED');
    const two = await messaging.campaigns.create({ ...content, audienceType: 'ALL' });
    await messaging.campaigns.sendNow(two.id);
    expect((await messaging.campaigns.get(two.id)).status).not.toBe('DRAFT');
  });

  it('preview() fills in the variables and names those without a value', async () => {
    const { messaging } = furnished();
    const { id } = await messaging.campaigns.create({ ...content, audienceType: 'ALL' });
    const preview = await messaging.campaigns.preview(id, { plan: 'pro' });
    expect(preview).toMatchObject({ subject: 'Hi ', body: 'pro', missing: ['name'] });
  });

  it('waitUntilSent() resolves when the service reports the campaign as sent', async () => {
    const statuses = ['SCHEDULED', 'SENDING', 'SENT'];
    const { fetch } = answering(() => ({ id: 'cmp_1', status: statuses.shift() }));
    const seen: unknown[] = [];
    const sent = await messagingOver(fetch).campaigns.waitUntilSent('cmp_1', {
      interval: 1,
      onUpdate: ({ status }) => seen.push(status),
    });
    expect(sent.status).toBe('SENT');
    expect(seen).toEqual(['SCHEDULED', 'SENDING', 'SENT']);
  });

  it('waitUntilSent() rejects for a cancelled campaign, and ends when isDone() returns true', async () => {
    const { fetch } = answering(() => ({ id: 'cmp_1', status: 'CANCELLED' }));
    const { campaigns } = messagingOver(fetch);
    await expect(campaigns.waitUntilSent('cmp_1')).rejects.toMatchObject({
      name: 'JobFailedError',
    });
    const isDone = () => true;
    await expect(campaigns.waitUntilSent('cmp_1', { isDone })).resolves.toMatchObject({
      status: 'CANCELLED',
    });
  });

  it('waitUntilSent() ends in time with a way to resume', async () => {
    const { fetch } = answering(() => ({ id: 'cmp_1', status: 'SENDING' }));
    const { campaigns } = messagingOver(fetch);
    const call = campaigns.waitUntilSent('cmp_1', { interval: 1, timeout: 20 });
    await expect(call).rejects.toMatchObject({ name: 'WaitTimeoutError', lastStatus: 'SENDING' });
  });
});

describe('domains.waitUntilVerified', () => {
  it('resolves with the check that found the domain verified', async () => {
    const { fetch } = answering(() => ({ id: 'dom_1', status: 'verified' }));
    const check = await messagingOver(fetch).domains.waitUntilVerified('dom_1');
    expect(check).toMatchObject({ status: 'verified' });
  });

  it('checks no more often than every 30 seconds', async () => {
    const { fetch, requests } = answering(() => ({ id: 'dom_1', status: 'pending' }));
    const { domains } = messagingOver(fetch);
    const call = domains.waitUntilVerified('dom_1', { interval: 1, timeout: 100 });
    await expect(call).rejects.toMatchObject({ name: 'WaitTimeoutError' });
    // One at the start and a last one when the time is over; every millisecond would be many more.
    expect(requests.length).toBeLessThanOrEqual(2);
  });
});
