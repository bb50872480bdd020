import type { SendRequest, TrackRequest } from 'postreel/messaging';
import { messaging as schemas } from 'postreel/schemas';
import { formatCount } from '../cli/table.js';
import {
  describeBody,
  describeFilledVariables,
  describeStartedWorkflows,
  subscriptionEvents,
  describeTemplate,
} from './facts.js';
import { formatAddresses, formatInline, ToolRefusal } from './text.js';
import { sender } from './parameters.js';
import { assertAtMost, planTool, type Tool } from './tool.js';

const maxRecipients = 50;
const addressing = /^(resent-)?(to|cc|bcc|from|sender|reply-to|return-path)$/i;

/** The tools that plan steps which send mail at once. */
export const mailPlans: readonly Tool[] = [
  planTool<SendRequest>({
    name: 'plan_email',
    about:
      'Plans one transactional email to up to 50 recipients, each mailed separately: `from`, `to`, `subject` and `body` (HTML), or a `template`. No attachments: a person could not read them in the plan.',
    schema: schemas.send.body,
    fields: { attachments: null, from: sender, name: 'The name of the sender.' },
    describe: async (request, services, signal) => {
      const { to: given, subject, body, template, ...others } = request;
      const to = [given].flat();
      assertAtMost(to.length, maxRecipients, 'recipients');
      if (Object.keys(request.headers ?? {}).some((name) => addressing.test(name.trim()))) {
        throw new ToolRefusal(
          'Recipients and senders are given by `to`, `from` and `reply`, not by headers.',
        );
      }
      const { messaging } = services;
      const stored =
        template === undefined ? undefined : await messaging.templates.get(template, { signal });
      const texts = [subject, body, stored?.subject, stored?.body];
      const emails = to.map((one) => (typeof one === 'string' ? one : one.email));
      return {
        action: `Send ${formatCount(to.length, 'email')}`,
        facts: [
          { label: 'to', text: formatAddresses(...to) },
          ...(template === undefined
            ? []
            : await describeTemplate(template, messaging, signal, 'template')),
          ...(subject === undefined ? [] : [{ label: 'subject', text: formatInline(subject) }]),
          ...(body === undefined ? [] : [describeBody('body', body)]),
          ...Object.entries(others).map(([label, value]) => ({
            label,
            text: /^(from|reply)$/.test(label) ? formatAddresses(value) : formatInline(value),
          })),
          ...(await describeFilledVariables(
            messaging,
            emails,
            { texts, data: request.data },
            signal,
          )),
          { label: 'also', text: 'creates or updates a contact for each recipient' },
          ...(request.subscribed === undefined
            ? []
            : await describeStartedWorkflows(subscriptionEvents, services, signal)),
          { label: 'cost', text: '1 call' },
          { label: 'cannot be undone', text: 'an email that was sent' },
        ],
      };
    },
    run: (request, { messaging }, { once }) => messaging.send(request, { once }),
  }),
  planTool<TrackRequest>({
    name: 'plan_event',
    about:
      'Plans to track an event for a contact. Workflows that listen to it start, and may mail.',
    schema: schemas.track.body,
    describe: async (request, services, signal) => {
      const events = [
        request.event,
        ...(request.subscribed === undefined ? [] : subscriptionEvents),
      ];
      return {
        action: 'Track 1 event',
        facts: [
          ...Object.entries(request).map(([label, value]) => ({
            label,
            text: label === 'email' ? formatAddresses(value) : formatInline(value),
          })),
          ...(await describeStartedWorkflows(events, services, signal)),
          { label: 'also', text: 'creates the contact if it is new' },
          { label: 'cost', text: '1 call' },
          { label: 'cannot be undone', text: 'what the workflows send' },
        ],
      };
    },
    run: (request, { messaging }, { once }) => messaging.track(request, { once }),
  }),
];
