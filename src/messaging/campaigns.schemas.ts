import * as z from 'zod/mini';
import type { Timestamp } from '../core/values.js';
import type { SchemasFor } from '../core/call/route.js';
import { filterProblem, filterWarnings } from './shared/filters.js';
import {
  displayName,
  email,
  filter,
  id,
  knownOf,
  makeLenient,
  msOf,
  open,
  optionalEmail,
  subject,
  timestamp,
  listQuery,
} from './shared/values.schemas.js';
import type { routes, Campaign, CampaignCreate, CampaignSend } from './campaigns.js';

/** The tolerated difference between the clocks of the caller and the service. */
const clockToleranceMs = 60_000;

const optionalText = z.optional(z.nullable(z.string()));

const campaign = z.looseObject({
  id: z.string(),
  name: z.string(),
  subject: z.string(),
  status: z.string(),
  description: optionalText,
  body: z.optional(z.string()),
  from: z.optional(z.string()),
  fromName: optionalText,
  replyTo: optionalText,
  audienceType: z.optional(z.string()),
  segmentId: optionalText,
  audienceFilter: z.optional(z.nullable(filter)),
  scheduledAt: optionalText,
});

const createdCampaign = z.extend(campaign, {
  type: z.string(),
  scheduledAt: z.nullable(z.string()),
});

// The field that each audience type requires. With any other audience type, the field has no effect.
const audienceFields = [
  ['SEGMENT', 'segmentId'],
  ['FILTERED', 'audienceFilter'],
] as const;

const campaignFields = z.looseObject({
  name: z.string(),
  description: z.optional(z.string()),
  subject,
  body: z.string(),
  from: email,
  fromName: z.optional(displayName),
  replyTo: z.optional(optionalEmail),
  audienceType: z.enum(['ALL', 'SEGMENT', 'FILTERED']),
  segmentId: z.optional(z.nullable(id)),
  audienceFilter: z.optional(z.nullable(filter)),
});

const campaignCreate = campaignFields.check((context) => {
  const input = context.value;
  for (const [audience, field] of audienceFields) {
    if (input.audienceType !== audience || isGiven(input[field])) {
      continue;
    }
    const message = `is required when \`audienceType\` is ${audience}`;
    context.issues.push({ code: 'custom', path: [field], message, input });
  }
  const message =
    input.audienceType === 'FILTERED' && isGiven(input.audienceFilter)
      ? filterProblem(input.audienceFilter, "to mail all, use `audienceType: 'ALL'`")
      : undefined;
  if (message !== undefined) {
    context.issues.push({ code: 'custom', path: ['audienceFilter'], message, input });
  }
}) as unknown as z.ZodMiniType<CampaignCreate>; // its check() enforces the union

const known = {
  ...knownOf(campaignFields),
  aliases: { html: 'body', sender: 'from', audience: 'audienceType', filter: 'audienceFilter' },
};

const scheduledFor = timestamp.check(
  z.refine((time) => ageMs(time) <= clockToleranceMs, {
    error: ({ input }) =>
      `must be in the future; got ${new Date(msOf(input as Timestamp)).toISOString()}`, // the schema has checked that this is a time
  }),
);

const campaignSend = z
  .looseObject({ scheduledFor: z.optional(z.nullable(scheduledFor)) })
  .check((context) => {
    const input = context.value;
    const { scheduledFor: time } = input;
    const [stray] = Object.keys(input);
    if (stray === undefined || time !== undefined) {
      return;
    }
    // A typo in the name or the value must not turn a schedule into an email to everybody now.
    const message =
      'scheduledFor' in input
        ? `must not be undefined: the service would send to everybody now; if you mean that, use \`campaigns.sendNow(id)\``
        : 'is not a known field: without `scheduledFor` the campaign is sent to everybody now';
    const path = ['scheduledFor' in input ? 'scheduledFor' : stray];
    context.issues.push({ code: 'custom', path, message, input });
  }) as unknown as z.ZodMiniType<CampaignSend>; // its check() rejects `undefined`, which the type excludes

export const schemas = {
  list: { query: listQuery, returns: campaign },
  create: { body: campaignCreate, returns: createdCampaign, known, warnings: audienceWarnings },
  get: { returns: campaign },
  replace: {
    body: campaignCreate,
    returns: makeLenient<Campaign>(campaign),
    known,
    warnings: audienceWarnings,
  },
  delete: { returns: open },
  duplicate: { returns: makeLenient<Campaign>(campaign) },
  send: { body: campaignSend, returns: open },
  cancel: { returns: open },
  sendTest: { body: z.looseObject({ email }), returns: open },
  stats: { returns: open },
} satisfies SchemasFor<typeof routes>;

function audienceWarnings(body: CampaignCreate): readonly string[] {
  const stray = audienceFields.filter(
    ([audience, field]) => body.audienceType !== audience && isGiven(body[field]),
  );
  const idle = stray.map(
    ([audience, field]) =>
      `\`${field}\` has no effect: it is only for the audience type ${audience}.`,
  );
  return [...idle, ...filterWarnings('audienceFilter', body.audienceFilter)];
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function ageMs(time: Timestamp): number {
  return Date.now() - msOf(time);
}
