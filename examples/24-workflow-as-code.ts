// An onboarding workflow in one file: drawn, simulated, deployed and run.
// Run: npx tsx --env-file=.env 24-workflow-as-code.ts
import { defineWorkflow, MessagingClient, simulate, toMermaid, where } from 'postreel';
import { fileWorkflowState } from 'postreel/node';

const messaging = new MessagingClient();

const onboarding = defineWorkflow({
  key: 'onboarding',
  name: 'Onboarding',
  trigger: { event: 'signed_up' },
  enabled: true,
  steps: {
    welcome: { type: 'SEND_EMAIL', template: 'tpl_welcome', next: 'wait' },
    wait: { type: 'DELAY', amount: 2, unit: 'days', next: 'isPro' },
    isPro: { type: 'CONDITION', if: where('data.plan').equals('pro'), yes: 'done', no: 'offer' },
    offer: { type: 'SEND_EMAIL', subject: 'Go pro', body: '<p>Only today</p>', next: 'done' },
    done: { type: 'EXIT' },
  },
});
console.log(toMermaid(onboarding));

const ann = { email: 'ann@example.com', data: { plan: 'free' } };
for (const { email, at, step } of simulate(onboarding, [ann], { days: 30 }).emails) {
  console.log(`${email} would get "${step}" at ${at.toISOString()}`);
}

// Keep this file: by it the next run finds the workflow, and makes no second one.
const state = fileWorkflowState('workflows.json');
const { operations } = await messaging.workflows.deploy(onboarding, { state });
console.log(`deployed in ${operations.length} steps`);
await messaging.track({ email: ann.email, event: 'signed_up', data: ann.data });
