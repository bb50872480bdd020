import type { Campaign, CampaignCreate, TemplateCreate, TemplateUpdate } from 'postreel/messaging';
import { messaging as schemas } from 'postreel/schemas';
import * as z from 'zod/mini';
import type { Fact } from '../plans.js';
import { Refusal } from '../refusal.js';
import { inline } from '../text.js';
import { bodyFact } from './mail-plans.js';
import { planTool, type Services, type Tool } from './tool.js';

const text = z.string().check(z.minLength(1));

/** Steps with campaigns, templates and workflows. */
export const campaignPlans: readonly Tool[] = [
  planTool<CampaignCreate>({
    name: 'plan_campaign',
    title: 'Plan a campaign',
    description: 'Plans to create a campaign as a draft, which mails no one yet.',
    schema: schemas.campaigns.create.body as unknown as z.ZodMiniType<CampaignCreate>, // as: ours are zod schemas
    describe: async (request, services, signal) => ({
      action: 'Create 1 draft of a campaign',
      facts: [
        ...(await campaignFacts(request, services, signal)),
        { label: 'cost', text: '1 call' },
      ],
    }),
    run: (request, { messaging }, { signal }) => messaging.campaigns.create(request, { signal }),
  }),
  planTool({
    name: 'plan_campaign_step',
    title: 'Plan to send, schedule, test or cancel a campaign',
    description:
      'Plans a step with a campaign: `send` now, `schedule` (with `at`, ISO 8601), `test` (with `email`) or `cancel`.',
    schema: z.strictObject({
      id: text,
      step: z.enum(['send', 'schedule', 'test', 'cancel']),
      at: z.optional(text),
      email: z.optional(text),
    }),
    describe: async ({ id, step, at, email }, services, signal) => {
      assertStep(step, at, email);
      const campaign = await services.messaging.campaigns.get(id, { signal });
      const actions = {
        send: 'Send the campaign to its whole audience now',
        schedule: `Schedule the campaign for ${inline(at)}`,
        test: `Send a test of the campaign to ${inline(email)}`,
        cancel: 'Cancel the campaign',
      };
      return {
        action: actions[step],
        facts: [
          { label: 'campaign', text: inline({ id, status: campaign.status }) },
          ...(await campaignFacts(campaign, services, signal)),
          { label: 'cost', text: '1 call' },
          ...(step === 'send'
            ? [{ label: 'cannot be undone', text: 'emails that were sent' }]
            : []),
        ],
      };
    },
    run: ({ id, step, at = '', email = '' }, { messaging }, { signal }) => {
      const { campaigns } = messaging;
      const steps = {
        send: () => campaigns.sendNow(id, { signal }),
        schedule: () => campaigns.schedule(id, at, { signal }),
        test: () => campaigns.sendTest(id, { email }, { signal }),
        cancel: () => campaigns.cancel(id, { signal }),
      };
      return steps[step]();
    },
  }),
  planTool({
    name: 'plan_template',
    title: 'Plan a template',
    description: 'Plans to create an email template, or to change the one with that `id`.',
    schema: z.strictObject({
      id: z.optional(text),
      name: z.optional(text),
      subject: z.optional(text),
      body: z.optional(text),
      type: z.optional(z.enum(['TRANSACTIONAL', 'MARKETING'])),
      from: z.optional(text),
    }),
    describe: async ({ id, body, ...others }, { messaging }, signal) => {
      const used = id === undefined ? undefined : await messaging.templates.usage(id, { signal });
      return {
        action: id === undefined ? 'Create 1 template' : `Change the template ${inline(id)}`,
        facts: [
          ...Object.entries(others).map(([label, value]) => ({ label, text: inline(value) })),
          ...(body === undefined ? [] : [bodyFact('body', body)]),
          ...(used === undefined ? [] : [{ label: 'used by', text: inline(used) }]),
          { label: 'cost', text: '1 call' },
        ],
      };
    },
    run: ({ id, ...template }, { messaging }, { signal }) =>
      id === undefined
        ? messaging.templates.create(template as TemplateCreate, { signal }) // as: checked by the call
        : messaging.templates.update(id, template as TemplateUpdate, { signal }), // as: likewise
  }),
  planTool({
    name: 'plan_workflow_switch',
    title: 'Plan to switch a workflow on or off',
    description: 'Plans to switch a workflow on, so that its event mails people, or off.',
    schema: z.strictObject({ id: text, enabled: z.boolean() }),
    describe: async ({ id, enabled }, { messaging }, signal) => {
      const workflow = await messaging.workflows.get(id, { signal });
      const { name, steps, transitions, ...others } = workflow;
      return {
        action: `Switch the workflow ${inline(name)} ${enabled ? 'on' : 'off'}`,
        facts: [
          { label: 'workflow', text: inline(others) },
          { label: 'steps', text: (steps ?? []).map(inline).join('\n') || 'none' },
          { label: 'transitions', text: (transitions ?? []).map(inline).join('\n') || 'none' },
          { label: 'cost', text: '1 call' },
        ],
      };
    },
    run: ({ id, enabled }, { messaging }, { signal }) =>
      messaging.workflows.update(id, { enabled }, { signal }),
  }),
];

function assertStep(step: string, at: string | undefined, email: string | undefined): void {
  if ((step === 'schedule') !== (at !== undefined) || (step === 'test') !== (email !== undefined)) {
    throw new Refusal(
      '`schedule` needs `at`, `test` needs `email`, and the other steps need neither.',
    );
  }
}

/** A campaign, or what one will be made of. */
type Shown = Partial<
  Pick<Campaign, 'name' | 'description' | 'from' | 'fromName' | 'replyTo' | 'subject' | 'body'>
> &
  Audience;
interface Audience {
  readonly audienceType?: unknown;
  readonly type?: unknown;
  readonly segmentId?: unknown;
  readonly audienceFilter?: unknown;
}

async function campaignFacts(
  { name, description, from, fromName, replyTo, subject, body, ...audience }: Shown,
  services: Services,
  signal: AbortSignal,
): Promise<Fact[]> {
  return [
    { label: 'name', text: inline(name) },
    ...(description ? [{ label: 'description', text: inline(description) }] : []),
    { label: 'from', text: inline({ from, fromName, replyTo }) },
    { label: 'subject', text: inline(subject) },
    bodyFact('body', body ?? ''),
    ...(await audienceFacts(audience, services, signal)),
  ];
}

async function audienceFacts(
  { audienceType, type, segmentId, audienceFilter }: Audience,
  { messaging }: Services,
  signal: AbortSignal,
): Promise<Fact[]> {
  // A campaign that was just created has its audience under `type`.
  const audience = audienceType ?? type;
  const fact = { label: 'audience', text: inline({ audience, segmentId, audienceFilter }) };
  if (audience === 'ALL') {
    const { total } = await messaging.contacts.list({ limit: 1 }, { signal });
    return [fact, { label: 'contacts now', text: inline(total), isEstimate: true }];
  }
  if (audience === 'SEGMENT' && typeof segmentId === 'string') {
    const { name, memberCount } = await messaging.segments.get(segmentId, { signal });
    const segment = { label: 'segment', text: inline(name) };
    return [fact, segment, { label: 'members now', text: inline(memberCount), isEstimate: true }];
  }
  const unknown = 'the service does not say how many match';
  return [fact, { label: 'contacts now', text: unknown, isEstimate: true }];
}
