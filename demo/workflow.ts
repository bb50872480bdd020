import type { MessagingClient } from 'postreel';
import { allowed, chapter, say } from './terminal.js';

/** Builds a workflow and watches a contact walk through it. */
export async function runWorkflow(messaging: MessagingClient, isReal: boolean): Promise<void> {
  chapter('Build a workflow and watch an execution finish');
  const { id } = await messaging.workflows.create({ name: 'Welcome', eventName: 'signed_up' });
  const steps = await addSteps(messaging, id);
  await connect(messaging, id, steps);
  if (!(await allowed('This starts a workflow that mails one contact', isReal))) {
    return;
  }
  await messaging.workflows.update(id, { enabled: true });
  await messaging.track({ email: 'bea@example.com', event: 'signed_up', data: { plan: 'pro' } });
  const execution = await messaging.workflows.executions.list(id).first();
  if (!execution) {
    throw new Error('The event did not start the workflow.');
  }
  let last = '';
  for (let look = 0; look < 100; look++) {
    const { status = '' } = await messaging.workflows.executions.get(id, execution.id);
    if (status !== last) {
      say(`execution: ${status}`);
    }
    last = status;
    if (!['RUNNING', 'WAITING'].includes(status)) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function addSteps(messaging: MessagingClient, id: string): Promise<string[]> {
  const { steps } = messaging.workflows;
  const ids: string[] = [];
  for (const step of [
    { type: 'DELAY', config: { duration: '1s' } },
    { type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value: 'pro' } },
    { type: 'SEND_EMAIL', config: { subject: 'Welcome', body: '<p>Hello!</p>' } },
    { type: 'UPDATE_CONTACT', config: { data: { welcomed: true } } },
    { type: 'EXIT' },
  ] as const) {
    ids.push((await steps.create(id, step)).id);
  }
  say('steps: delay, condition, mail, update, exit');
  return ids;
}

async function connect(messaging: MessagingClient, id: string, steps: string[]): Promise<void> {
  const [delay = '', condition = '', mail = '', update = '', exit = ''] = steps;
  for (const [fromStepId, toStepId, branch] of [
    [delay, condition],
    [condition, mail, 'yes'],
    [condition, exit, 'no'],
    [mail, update],
    [update, exit],
  ] as const) {
    await messaging.workflows.transitions.create(id, { fromStepId, toStepId, branch });
  }
}
