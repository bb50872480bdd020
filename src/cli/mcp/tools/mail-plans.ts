import type { SendRequest, TrackRequest, Workflow } from 'postreel/messaging';
import { messaging as schemas } from 'postreel/schemas';
import type { ZodMiniType } from 'zod/mini';
import type { Fact } from '../plans.js';
import { Refusal } from '../refusal.js';
import { count } from '../../terminal/table.js';
import { inline, quoted } from '../text.js';
import { assertAtMost, planTool, type Services, type Tool } from './tool.js';

const maxRecipients = 50;
const addressing = /^(resent-)?(to|cc|bcc|from|sender|reply-to|return-path)$/i;

/** Steps that mail people at once. */
export const mailPlans: readonly Tool[] = [
  planTool<SendRequest>({
    name: 'plan_email',
    title: 'Plan an email',
    description:
      'Plans one transactional email to up to 50 recipients, each mailed separately: `from`, `to`, `subject` and `body` (HTML), or a `template`. No attachments.',
    schema: schemas.send.body as unknown as ZodMiniType<SendRequest>, // as: ours are zod schemas
    describe: async (request, services, signal) => {
      const { to: given, subject, body, template, ...others } = request;
      const to = [given].flat();
      assertAtMost(to.length, maxRecipients, 'recipients');
      if (Object.keys(request.headers ?? {}).some((name) => addressing.test(name.trim()))) {
        throw new Refusal(
          'Recipients and senders are given by `to`, `from` and `reply`, not by headers.',
        );
      }
      if (request.attachments !== undefined) {
        throw new Refusal('A person cannot see what is in an attachment. Send it by a program.');
      }
      return {
        action: `Send ${count(to.length, 'email')}`,
        facts: [
          { label: 'to', text: to.map(inline).join(', ') },
          ...(template === undefined ? [] : await templateFacts(template, services, signal)),
          ...(subject === undefined ? [] : [{ label: 'subject', text: inline(subject) }]),
          ...(body === undefined ? [] : [bodyFact('body', body)]),
          ...Object.entries(others).map(([label, value]) => ({ label, text: inline(value) })),
          { label: 'also', text: 'creates or updates a contact for each recipient' },
          { label: 'cost', text: '1 call' },
          { label: 'cannot be undone', text: 'an email that was sent' },
        ],
      };
    },
    run: (request, { messaging }, { signal }) => messaging.send(request, { signal }),
  }),
  planTool<TrackRequest>({
    name: 'plan_event',
    title: 'Plan an event',
    description:
      'Plans to track an event for a contact. Workflows that listen to it start, and may mail.',
    schema: schemas.track.body,
    describe: async (request, { messaging }, signal) => {
      const workflows = await messaging.workflows.list({}, { signal }).toArray({ max: 1000 });
      const started = workflows.filter((workflow) => listensTo(workflow, String(request.event)));
      return {
        action: 'Track 1 event',
        facts: [
          ...Object.entries(request).map(([label, value]) => ({ label, text: inline(value) })),
          {
            label: 'workflows that are on and name this event',
            text:
              started
                .map(({ id, name }) => inline({ id, name }))
                .sort()
                .join(', ') || 'none',
          },
          { label: 'also', text: 'creates the contact if it is new' },
          { label: 'cost', text: '1 call' },
          { label: 'cannot be undone', text: 'what the workflows send' },
        ],
      };
    },
    run: (request, { messaging }, { signal }) => messaging.track(request, { signal }),
  }),
];

/** The subject, sender and body of a template, as they stand at the service now. */
export async function templateFacts(
  id: string,
  { messaging }: Services,
  signal: AbortSignal,
): Promise<Fact[]> {
  const { name, subject, body, from } = await messaging.templates.get(id, { signal });
  return [
    { label: 'template', text: inline({ id, name, from, subject }) },
    bodyFact('body of the template', body),
  ];
}

/** The whole text: nothing is sent that a person could not read before. */
export function bodyFact(label: string, body: unknown): Fact {
  return { label, text: quoted(typeof body === 'string' ? body : inline(body)) };
}

// The document does not show where a workflow keeps the name of its event.
function listensTo(workflow: Workflow, event: string): boolean {
  return workflow.enabled === true && JSON.stringify(workflow).includes(JSON.stringify(event));
}
