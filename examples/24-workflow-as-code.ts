// An onboarding workflow in one file that only exports it, for `postreel workflows draw` and `deploy`.
// Run: npx postreel workflows draw 24-workflow-as-code.ts
import { defineWorkflow, where } from 'postreel';

export const onboarding = defineWorkflow({
  name: 'Onboarding',
  trigger: { event: 'signed_up' },
  steps: {
    welcome: {
      type: 'SEND_EMAIL',
      subject: 'Welcome {{name ?? "on board"}}',
      body: '<p>Good to have you.</p>',
      next: 'wait',
    },
    wait: { type: 'DELAY', amount: 2, unit: 'days', next: 'isPro' },
    isPro: { type: 'CONDITION', if: where('data.plan').equals('pro'), yes: 'done', no: 'offer' },
    offer: { type: 'SEND_EMAIL', subject: 'Go pro', body: '<p>Only today</p>', next: 'done' },
    done: { type: 'EXIT' },
  },
});
