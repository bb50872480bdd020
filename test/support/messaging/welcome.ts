import { defineWorkflow } from 'postreel';
import type { FakeMessaging } from 'postreel/testing';

/** A short workflow. Each subject makes a separate version. */
export const welcome = (subject: string) =>
  defineWorkflow({
    name: 'Welcome',
    trigger: { event: 'signed_up' },
    steps: {
      hello: { type: 'SEND_EMAIL', subject, body: '<p>Hi</p>', next: 'done' },
      done: { type: 'EXIT' },
    },
  });

/** The ids of the workflows that are on, in their order. */
export const idsOn = ({ project }: FakeMessaging) =>
  [...project.workflows.values()].filter(({ enabled }) => enabled).map(({ id }) => id);
