// Creates a template, then draws, plans, deploys and runs a workflow that uses it.
// Run: npx tsx --env-file=.env 29-deploy-a-workflow.ts
import { defineWorkflow, MessagingClient, toMermaid, where } from 'postreel';

const messaging = new MessagingClient();

const { items } = await messaging.templates.list({ search: 'Onboarding' });
const template =
  items[0] ??
  (await messaging.templates.create({
    name: 'Onboarding',
    subject: 'Welcome {{name ?? "on board"}}',
    body: '<p>Good to have you.</p>',
    type: 'TRANSACTIONAL',
  }));

const onboarding = defineWorkflow({
  name: 'Onboarding',
  trigger: { event: 'signed_up' },
  steps: {
    welcome: { type: 'SEND_EMAIL', template: template.id, next: 'wait' },
    wait: { type: 'DELAY', amount: 2, unit: 'days', next: 'isPro' },
    isPro: { type: 'CONDITION', if: where('data.plan').equals('pro'), yes: 'done', no: 'offer' },
    offer: { type: 'SEND_EMAIL', subject: 'Go pro', body: '<p>Only today</p>', next: 'done' },
    done: { type: 'EXIT' },
  },
});
console.log(toMermaid(onboarding));

const plan = await messaging.workflows.deploy(onboarding, { enable: true, dryRun: true });
console.log(plan.operations.length, 'things to do', plan.notes);

// A second run changes nothing; a changed workflow replaces this one.
const { name } = await messaging.workflows.deploy(onboarding, { enable: true });
console.log('deployed', name);
const data = { plan: 'free', name: 'Ann' };
await messaging.track({ email: 'ann@example.com', event: 'signed_up', data });
