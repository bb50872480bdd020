import type { Campaign, CampaignCreate, TemplateCreate, TemplateUpdate } from 'postreel/messaging';
import { messaging as schemas } from 'postreel/schemas';
import * as z from 'zod/mini';
import { describeBody, describeVariables, describeWorkflow } from './facts.js';
import { formatAddresses, formatInline, ToolRefusal } from './text.js';
import { planTool, type Fact, type Services, type Tool } from './tool.js';

const text = z.string().check(z.minLength(1));

/** The tools that plan steps with campaigns, templates and workflows. */
export const campaignPlans: readonly Tool[] = [
  planTool<CampaignCreate>({
    name: 'plan_campaign',
    about: 'Plans to create a campaign as a draft, which mails no one yet.',
    schema: schemas.campaigns.create.body,
    describe: async (request, services, signal) => ({
      action: 'Create 1 draft of a campaign',
      facts: [
        ...(await describeCampaign(request, services, signal)),
        { label: 'cost', text: '1 call' },
      ],
    }),
    run: (request, { messaging }, { once }) => messaging.campaigns.create(request, { once }),
  }),
  planTool({
    name: 'plan_campaign_step',
    about:
      'Plans a step with a campaign: `send` now, `schedule` (with `at`, ISO 8601), `test` (with `email`) or `cancel`.',
    schema: z.looseObject({
      id: text,
      step: z.enum(['send', 'schedule', 'test', 'cancel']),
      at: z.optional(text),
      email: z.optional(text),
    }),
    fields: {
      step: 'What to do with it.',
      at: 'When to send it, in ISO 8601, with the step "schedule".',
      email: 'Who gets the test, with the step "test".',
    },
    describe: async ({ id, step, at, email }, services, signal) => {
      assertStep(step, at, email);
      assertFuture(at);
      const campaign = await services.messaging.campaigns.get(id, { signal });
      const actions = {
        send: 'Send the campaign to its whole audience now',
        schedule: `Schedule the campaign for ${formatInline(at)}`,
        test: `Send a test of the campaign to ${formatAddresses(email)}`,
        cancel: 'Cancel the campaign',
      };
      return {
        action: actions[step],
        facts: [
          { label: 'campaign', text: formatInline({ id, status: campaign.status }) },
          ...(await describeCampaign(campaign, services, signal)),
          // The counts of a campaign that is being sent change all the time, so a plan to cancel it omits
          // them.
          ...(step === 'cancel'
            ? []
            : [{ label: 'other fields', text: formatInline(othersOf(campaign)) }]),
          { label: 'cost', text: '1 call' },
          ...(step === 'schedule'
            ? [{ label: 'also', text: 'mails whoever is in the audience at that time' }]
            : []),
          ...(step === 'send' || step === 'test'
            ? [{ label: 'cannot be undone', text: 'emails that were sent' }]
            : []),
        ],
      };
    },
    run: ({ id, step, at = '', email = '' }, { messaging }, { once }) => {
      const { campaigns } = messaging;
      const steps = {
        send: () => campaigns.sendNow(id, { once }),
        schedule: () => campaigns.schedule(id, at, { once }),
        test: () => campaigns.sendTest(id, { email }, { once }),
        cancel: () => campaigns.cancel(id),
      };
      return steps[step]();
    },
  }),
  planTool({
    name: 'plan_template',
    about: 'Plans to create an email template, or to change the one with that `id`.',
    schema: z.looseObject({
      id: z.optional(text),
      name: z.optional(text),
      subject: z.optional(text),
      body: z.optional(text),
      type: z.optional(z.enum(['TRANSACTIONAL', 'MARKETING'])),
      from: z.optional(text),
    }),
    fields: { id: 'The template to change; left out, a new one is created.' },
    describe: async ({ id, body, ...others }, { messaging }, signal) => {
      const used = id === undefined ? undefined : await messaging.templates.usage(id, { signal });
      return {
        action: id === undefined ? 'Create 1 template' : `Change the template ${formatInline(id)}`,
        facts: [
          ...Object.entries(others).map(([label, value]) => ({
            label,
            text: label === 'from' ? formatAddresses(value) : formatInline(value),
          })),
          ...(body === undefined ? [] : [describeBody('body', body)]),
          ...(used === undefined ? [] : [{ label: 'used by', text: formatInline(used) }]),
          { label: 'cost', text: '1 call' },
        ],
      };
    },
    run: ({ id, ...template }, { messaging }, { once }) =>
      id === undefined
        ? messaging.templates.create(template as TemplateCreate, { once }) // as: the call checks the value
        : messaging.templates.update(id, template as TemplateUpdate), // as: the call checks the value
  }),
  planTool({
    name: 'plan_workflow_switch',
    about: 'Plans to switch a workflow on, so that its event mails people, or off.',
    schema: z.looseObject({ id: text, enabled: z.boolean() }),
    fields: { enabled: 'On or off.' },
    describe: async ({ id, enabled }, services, signal) => {
      const workflow = await services.messaging.workflows.get(id, { signal });
      return {
        action: `Switch the workflow ${formatInline(workflow.name)} ${enabled ? 'on' : 'off'}`,
        facts: [
          ...(await describeWorkflow(workflow, services, signal, 'workflow')),
          { label: 'cost', text: '1 call' },
        ],
      };
    },
    run: ({ id, enabled }, { messaging }) => messaging.workflows.update(id, { enabled }),
  }),
];

function assertStep(step: string, at: string | undefined, email: string | undefined): void {
  if ((step === 'schedule') !== (at !== undefined) || (step === 'test') !== (email !== undefined)) {
    throw new ToolRefusal(
      '`schedule` needs `at`, `test` needs `email`, and the other steps need neither.',
    );
  }
}

// Runs again right before the step: a time that has passed by then would mean "now".
function assertFuture(at: string | undefined): void {
  if (at !== undefined && !(Date.parse(at) > Date.now())) {
    throw new ToolRefusal('`at` must be a time to come, in ISO 8601 such as 2030-01-31T09:00:00Z.');
  }
}

/** A campaign, or the fields of a new one. */
type ShownCampaign = Partial<
  Pick<Campaign, 'name' | 'description' | 'from' | 'fromName' | 'replyTo' | 'subject' | 'body'>
> &
  Audience;

const shownFields = ['name', 'description', 'from', 'fromName', 'replyTo', 'subject', 'body'];

/** The fields of the campaign that the plan does not show elsewhere. */
function othersOf(campaign: Campaign): object {
  const others = Object.entries(campaign).filter(([field]) => !shownFields.includes(field));
  return Object.fromEntries(others);
}

interface Audience {
  readonly audienceType?: unknown;
  readonly type?: unknown;
  readonly segmentId?: unknown;
  readonly audienceFilter?: unknown;
}

async function describeCampaign(
  { name, description, from, fromName, replyTo, subject, body, ...audience }: ShownCampaign,
  services: Services,
  signal: AbortSignal,
): Promise<Fact[]> {
  return [
    { label: 'name', text: formatInline(name) },
    ...(description ? [{ label: 'description', text: formatInline(description) }] : []),
    { label: 'from', text: formatAddresses({ from, fromName, replyTo }) },
    { label: 'subject', text: formatInline(subject) },
    describeBody('body', body ?? ''),
    ...describeVariables(services.messaging, { texts: [subject, body] }),
    ...(await describeAudience(audience, services, signal)),
  ];
}

async function describeAudience(
  { audienceType, type, segmentId, audienceFilter }: Audience,
  { messaging }: Services,
  signal: AbortSignal,
): Promise<Fact[]> {
  // A newly created campaign has its audience type in the field `type`.
  const audience = audienceType ?? type;
  const fact = { label: 'audience', text: formatInline({ audience, segmentId, audienceFilter }) };
  if (audience === 'ALL') {
    const { total } = await messaging.contacts.list({ limit: 1 }, { signal });
    return [fact, describePeople('contacts now', total)];
  }
  if (audience === 'SEGMENT' && typeof segmentId === 'string') {
    const { name, type: kind, condition } = await messaging.segments.get(segmentId, { signal });
    // Do not use the cached count: for a dynamic segment it is as old as its last refresh.
    const { total } = await messaging.segments.members.list(segmentId, {}, { signal });
    const shown = { label: 'segment', text: formatInline({ name, type: kind, condition }) };
    return [fact, shown, describePeople('members now', total)];
  }
  return [
    fact,
    {
      label: 'contacts now',
      text: 'the service does not say how many match, and it may be more by then',
    },
  ];
}

// The audience may grow by 5 % while a person reads the plan.
const headroom = 1.05;

function describePeople(label: string, count: unknown): Fact {
  if (typeof count !== 'number') {
    return { label, text: 'the service does not say how many' };
  }
  const max = Math.floor(count * headroom);
  return { label, text: `${count}; refused above ${max}`, people: { now: count, max } };
}
