import {
  isDate,
  tagOf,
  withArticle,
  type Acknowledgement,
  type OpenRecord,
  type Timestamp,
} from '../core/values.js';
import { anyList, ofType, route, type NamesOf } from '../core/call/route.js';
import type { Call, ListOptions, RequestOptions, Paginated } from '../core/types.js';
import { waitForRecord, type RecordWaitOptions, type StatusChecks } from '../core/wait.js';
import { stageOf } from '../core/job-status.js';
import type { Transport } from '../core/call/send.js';
import { invalidRequest, type InvalidRequestError } from '../core/errors.js';
import type { FilterInput, StoredFilter } from './shared/filters.js';
import { normalizeEmailsIn, type ListQuery } from './shared/values.js';
import { isServiceRecord, toRequestBody } from './shared/request-body.js';
import { renderText, type TextCheck } from './shared/template-text.js';

export const routes = {
  list: route('GET /campaigns', {
    query: ofType<CampaignQuery>(),
    returns: anyList<Campaign>('campaigns'),
  }),
  create: route('POST /campaigns', {
    body: ofType<CampaignCreate>(),
    returns: ofType<CreatedCampaign>(),
    normalize: normalizeEmailsIn('from', 'replyTo'),
  }),
  get: route('GET /campaigns/{id}', { returns: ofType<Campaign>() }),
  replace: route('PUT /campaigns/{id}', {
    body: ofType<CampaignCreate>(),
    returns: ofType<Campaign>(),
    normalize: normalizeEmailsIn('from', 'replyTo'),
  }),
  delete: route('DELETE /campaigns/{id}', { returns: ofType<Acknowledgement>() }),
  duplicate: route('POST /campaigns/{id}/duplicate', { returns: ofType<Campaign>() }),
  send: route('POST /campaigns/{id}/send', {
    body: ofType<CampaignSend | undefined>(),
    returns: ofType<Acknowledgement>(),
  }),
  cancel: route('POST /campaigns/{id}/cancel', {
    returns: ofType<Acknowledgement>(),
    repeatable: true, // a second call leaves the same state
  }),
  sendTest: route('POST /campaigns/{id}/test', {
    body: ofType<CampaignTest>(),
    normalize: normalizeEmailsIn('email'),
    returns: ofType<Acknowledgement>(),
  }),
  stats: route('GET /campaigns/{id}/stats', { returns: ofType<CampaignStats>() }),
};

/** Who receives a campaign. */
export type AudienceType = 'ALL' | 'SEGMENT' | 'FILTERED';

/** The status of a campaign. The service does not document every value. */
export type CampaignStatus = 'DRAFT' | 'SCHEDULED' | 'SENDING' | (string & {});

/** One email to many contacts. The service does not document which fields it returns. */
export interface Campaign<Fields extends object = object> extends OpenRecord {
  id: string;
  name: string;
  subject: string;
  status: CampaignStatus;
  description?: string | null | undefined;
  /** HTML. */
  body?: string | undefined;
  from?: string | undefined;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
  audienceType?: AudienceType | (string & {}) | undefined;
  segmentId?: string | null | undefined;
  audienceFilter?: StoredFilter<Fields> | null | undefined;
  /** ISO 8601. */
  scheduledAt?: string | null | undefined;
}

/** A campaign as `campaigns.create()` returns it. */
export interface CreatedCampaign<Fields extends object = object> extends Campaign<Fields> {
  /** The audience type. */
  type: AudienceType | (string & {});
  scheduledAt: string | null;
}

/** Fields of every campaign. */
export interface CampaignContent {
  name: string;
  description?: string | null | undefined;
  /** 1 to 998 characters, no line breaks. */
  subject: string;
  /** HTML. `{{plan}}` is filled in; `{{name ?? "default"}}` gives a default for a missing field. */
  body: string;
  /** The sender's address; its domain must be verified. */
  from: string;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
}

/**
 * A campaign to the contacts of the project. The service does not document whether
 * unsubscribed contacts are left out.
 */
export interface CampaignToAll extends CampaignContent {
  audienceType: 'ALL';
  segmentId?: null | undefined;
  audienceFilter?: null | undefined;
}

/** A campaign to the members of a segment. */
export interface CampaignToSegment extends CampaignContent {
  audienceType: 'SEGMENT';
  segmentId: string;
  audienceFilter?: null | undefined;
}

/** A campaign to the contacts that a filter selects. */
export interface CampaignToFiltered<Fields extends object = object> extends CampaignContent {
  audienceType: 'FILTERED';
  segmentId?: null | undefined;
  audienceFilter: FilterInput<Fields>;
}

/**
 * A whole campaign, to create or to replace one. You may pass a campaign that `get()` or `list()` returned:
 * its `id`, `status`, `type`, `scheduledAt`, `createdAt` and `updatedAt` are left out, and so are
 * fields that are `null`.
 */
export type CampaignCreate<Fields extends object = object> =
  CampaignToAll | CampaignToSegment | CampaignToFiltered<Fields> | Campaign<Fields>;

/** Which campaigns to list. The service does not document its fields. */
export interface CampaignQuery extends ListQuery {}

/** When to send a campaign. */
export interface CampaignSend {
  /**
   * When to send the campaign. A time more than 60 seconds ago is rejected. If the field is left out or `null`, the
   * campaign is sent to its whole audience now. `undefined` is rejected: a variable that was never set would
   * otherwise send the campaign now.
   */
  scheduledFor?: Timestamp | null;
}

/** Where to send a test of a campaign. */
export interface CampaignTest {
  email: string;
}

/** Counts of sends, opens, clicks and bounces. The service does not document its fields. */
export interface CampaignStats extends OpenRecord {}

/** A campaign as one contact would get it. */
export interface CampaignPreview<Fields extends object = object> {
  readonly campaign: Campaign<Fields>;
  readonly subject: string;
  /** HTML. */
  readonly body: string;
  /** Variables with neither a value nor a fallback. */
  readonly missing: readonly string[];
}

// A campaign is replaced as a whole: a field that is left out is unset, which is the same as `null`.
const back = {
  answerOnly: ['id', 'status', 'type', 'scheduledAt', 'createdAt', 'updatedAt'],
  dropNull: 'all',
  dropEmpty: ['description', 'fromName', 'replyTo', 'segmentId'],
} as const;

const sentWait = {
  kind: 'Campaign',
  timeout: 3_600_000,
  interval: 10_000,
  // "sent" ends only campaigns. The words that end any job are in `core/job-status.ts`.
  isDone: (status: string | undefined) =>
    status?.toLowerCase() === 'sent' || stageOf(status) === 'done',
};

/** The parts of the client that `Campaigns` uses, next to the transport. */
interface CampaignParts {
  readonly checks: StatusChecks;
  readonly checkTexts: TextCheck;
}

/**
 * Emails to many contacts, sent now or scheduled.
 * @example
 * const campaign = await messaging.campaigns.create({
 *   name: 'Spring sale',
 *   subject: 'Spring sale',
 *   body: '<p>Everything must go.</p>',
 *   from: 'shop@example.com',
 *   audienceType: 'SEGMENT',
 *   segmentId,
 * });
 * await messaging.campaigns.send(campaign.id, { scheduledFor: '2027-03-20T09:00:00.000Z' });
 */
export class Campaigns<Fields extends object = object> implements NamesOf<typeof routes> {
  readonly #transport: Transport;
  readonly #checks: StatusChecks;
  readonly #checkTexts: TextCheck;

  constructor(transport: Transport, { checks, checkTexts }: CampaignParts) {
    this.#transport = transport;
    this.#checks = checks;
    this.#checkTexts = checkTexts;
  }

  /** Lists campaigns. `await` it for one page, `for await` it for every campaign. */
  list(query?: CampaignQuery, options?: ListOptions): Paginated<Campaign<Fields>> {
    return this.#transport.pages(routes.list, { query }, options) as Paginated<Campaign<Fields>>; // as: typed for any fields
  }

  /** Creates a campaign as a draft; `send()` sends it. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- it makes the compiler name the property that is wrong
  create<Id extends string | undefined = undefined>(
    // A new campaign has no `id`. The compiler then compares it with new ones only, and names the field that is wrong.
    body: CampaignCreate<Fields> & { id?: Id },
    options?: RequestOptions,
  ): Call<CreatedCampaign<Fields>> {
    this.#checkTexts(body);
    return this.#transport.send(
      routes.create,
      {
        body: toRequestBody<CampaignCreate>(body, back),
        about: { isServiceRecord: isServiceRecord(body) },
      },
      options,
    ) as Call<CreatedCampaign<Fields>>; // as: typed for any fields
  }

  /** Gets one campaign by its id. */
  get(id: string, options?: RequestOptions): Call<Campaign<Fields>> {
    return this.#transport.send(routes.get, { params: { id } }, options) as Call<Campaign<Fields>>; // as: typed for any fields
  }

  /** Replaces all fields of a campaign. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- it makes the compiler name the property that is wrong
  replace<Id extends string | undefined = undefined>(
    id: string,
    body: CampaignCreate<Fields> & { id?: Id },
    options?: RequestOptions,
  ): Call<Campaign<Fields>> {
    this.#checkTexts(body);
    return this.#transport.send(
      routes.replace,
      {
        params: { id },
        body: toRequestBody<CampaignCreate>(body, back),
        about: { isServiceRecord: isServiceRecord(body) },
      },
      options,
    ) as Call<Campaign<Fields>>; // as: typed for any fields
  }

  /** Deletes a campaign; a `ConflictError` while it has active executions. */
  delete(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.delete, { params: { id } }, options);
  }

  /** Duplicates a campaign as a new draft. */
  duplicate(id: string, options?: RequestOptions): Call<Campaign<Fields>> {
    return this.#transport.send(routes.duplicate, { params: { id } }, options) as Call<
      Campaign<Fields>
    >; // as: typed for any fields
  }

  /** Sends a campaign to its whole audience: immediately, or at `scheduledFor`. */
  send(id: string, body?: CampaignSend, options?: RequestOptions): Call<Acknowledgement> {
    const input = { params: { id }, body: body ?? {} };
    if (isFields(input.body)) {
      return this.#transport.send(routes.send, input, options);
    }
    const before = { run: () => Promise.reject(notFields(tagOf(body))) };
    return this.#transport.send(routes.send, { ...input, before }, options);
  }

  /** Sends a campaign to its whole audience immediately. */
  sendNow(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.send(id, {}, options);
  }

  /**
   * Schedules a campaign. A missing time, and a time more than 60 seconds ago, are rejected: the service
   * would send the campaign to everybody now.
   */
  schedule(id: string, at: Timestamp, options?: RequestOptions): Call<Acknowledgement> {
    const input = { params: { id }, body: { scheduledFor: at } };
    const guard = isTime(at) ? {} : { before: { run: () => Promise.reject(notTime()) } };
    return this.#transport.send(routes.send, { ...input, ...guard }, options);
  }

  /**
   * Reads a campaign and fills in its subject and body locally, as one contact would get them. The result lists
   * the variables that have neither a value nor a fallback.
   */
  async preview(
    id: string,
    data: Readonly<Record<string, unknown>> = {},
    options?: RequestOptions,
  ): Promise<CampaignPreview<Fields>> {
    const campaign = await this.get(id, options);
    const subject = renderText(campaign.subject, data);
    const body = renderText(campaign.body ?? '', data);
    const missing = [...new Set([...subject.missing, ...body.missing])];
    return { campaign, subject: subject.text, body: body.text, missing };
  }

  /**
   * Waits until a campaign has been sent, and resolves with the campaign. By default it checks the status every
   * 10 s for an hour. The service does not document the status values: `sent` and words like `completed` end the
   * wait, and failed and cancelled campaigns reject with a `JobFailedError`. For other words, pass `isDone`.
   */
  waitUntilSent(
    id: string,
    options?: RecordWaitOptions<Campaign<Fields>>,
  ): Promise<Campaign<Fields>> {
    const check = (signal: AbortSignal | undefined) => this.get(id, { signal, retries: 0 });
    const checks = this.#checks;
    return waitForRecord({ ...sentWait, id, check, checks }, options);
  }

  /** Cancels a campaign that is scheduled or sending. */
  cancel(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.cancel, { params: { id } }, options);
  }

  /** Sends a test of a campaign to one address. */
  sendTest(id: string, body: CampaignTest, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.sendTest, { params: { id }, body }, options);
  }

  /** Gets a campaign's counts of sends, opens, clicks and bounces. */
  stats(id: string, options?: RequestOptions): Call<CampaignStats> {
    return this.#transport.send(routes.stats, { params: { id } }, options);
  }
}

const sending = { method: 'POST', path: '/campaigns/{id}/send' };
const noFields = /^(Array|BigInt|Boolean|Date|Function|Map|Number|Promise|RegExp|Set|String)$/;

/** Whether this is an object of fields. A `Date` is not: as a body without fields it would send to everybody now. */
function isFields(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !noFields.test(tagOf(value));
}

/** Whether this can be the time of a schedule. A missing time would send the campaign to everybody now. */
function isTime(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || isDate(value);
}

/** Makes the error for the body of a send that is not an object of fields. */
function notFields(kind: string): InvalidRequestError {
  const message =
    `must be an object of fields; got ${withArticle(kind)}. ` +
    'Use `campaigns.send(id, { scheduledFor })` or `campaigns.schedule(id, at)`';
  return invalidRequest([{ field: 'body', message }], sending);
}

/** Makes the error for a schedule without a time. */
function notTime(): InvalidRequestError {
  const message =
    'must be a `Date` or an ISO 8601 string; to send now, use `campaigns.sendNow(id)`';
  return invalidRequest([{ field: 'scheduledFor', message }], sending);
}
