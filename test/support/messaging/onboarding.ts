import { defineWorkflow, where } from 'postreel';

/** A workflow with a step of every kind that needs no address to call. */
export const onboarding = defineWorkflow({
  name: 'Onboarding',
  trigger: { event: 'signed_up' },
  steps: {
    welcome: { type: 'SEND_EMAIL', subject: 'Welcome', body: '<p>Hi</p>', next: 'wait' },
    wait: { type: 'DELAY', amount: 2, unit: 'days', next: 'isPro' },
    isPro: { type: 'CONDITION', if: where('data.plan').equals('pro'), yes: 'mark', no: 'offer' },
    offer: { type: 'SEND_EMAIL', subject: 'Go pro', body: '<p>Offer</p>', next: 'paid' },
    paid: {
      type: 'WAIT_FOR_EVENT',
      event: 'paid',
      timeout: { amount: 7, unit: 'days' },
      next: 'mark',
    },
    mark: { type: 'UPDATE_CONTACT', data: { onboarded: true }, next: 'done' },
    done: { type: 'EXIT' },
  },
});
