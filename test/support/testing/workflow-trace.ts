import type { FakeMessaging } from 'postreel/testing';

type Ask = (endpoint: string, body?: unknown) => Promise<string>;

const mail = (subject: string) => ({ type: 'SEND_EMAIL', config: { subject, body: 'Hi' } });
const isPro = { field: 'event.plan', operator: 'equals', value: 'pro' };

/** One workflow for each habit, by the event that starts it. */
const flows = {
  mailed: [mail('Mailed')],
  waited: [
    { type: 'WAIT_FOR_EVENT', config: { eventName: 'paid', timeout: '1m' } },
    mail('Ran out of time'),
  ],
  branched: [{ type: 'CONDITION', config: { condition: isPro } }, mail('Pro')],
};

/** Filters whose reading the document leaves open. */
const conditions = [
  { and: [{ field: 'email', operator: 'contains', value: '@' }] },
  { field: 'subscribed', operator: 'equals', value: 'true' },
];

/** The contacts that filters select, and the effects of workflow steps, in the world of this fake. */
export async function workflowTrace(fake: FakeMessaging, ask: Ask): Promise<string[]> {
  const said: string[] = [];
  await ask('POST /contacts', { email: 'ann@example.com', data: { plan: 'pro' } });
  for (const condition of conditions) {
    await ask('POST /segments', { name: 'S', type: 'DYNAMIC', condition });
    const id = [...fake.project.segments.keys()].at(-1);
    said.push(await ask(`POST /segments/${id}/refresh`));
  }
  for (const [eventName, steps] of Object.entries(flows)) {
    said.push(await ask('POST /workflows', { name: eventName, eventName, enabled: true }));
    const [id, workflow] = [...fake.project.workflows].at(-1) ?? [];
    for (const step of steps) {
      await ask(`POST /workflows/${id}/steps`, step);
    }
    const [fromStepId, toStepId] = workflow?.steps.keys() ?? [];
    const branch = eventName === 'branched' ? 'yes' : undefined;
    const way = { fromStepId, toStepId, branch };
    said.push(await ask(`POST /workflows/${id}/transitions`, way));
    await ask(`PATCH /workflows/${id}`, { enabled: true });
    said.push(await ask(`GET /workflows/${id}`));
  }
  const ann = { email: 'ann@example.com', data: { plan: 'pro' } };
  await ask('POST /v1/track', { ...ann, event: 'waited' });
  await ask('POST /v1/track', { ...ann, event: 'branched' });
  await fake.advance('2m');
  for (const contact of fake.project.contacts.values()) {
    contact.subscribed = false;
  }
  await ask('POST /v1/track', { email: ann.email, event: 'mailed' });
  return [...said, ...fake.outbox.map(({ subject }) => subject)];
}
