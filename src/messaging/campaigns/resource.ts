import type { Call, ListOptions, RequestOptions, Paginated } from '../../core/types.js';
import type { NamesOf } from '../../core/route.js';
import {
  jobStage,
  waitForRecord,
  type RecordWaitOptions,
  type StatusChecks,
} from '../../core/wait.js';
import type { Acknowledgement, Timestamp } from '../../core/values.js';
import type { Transport } from '../../core/send.js';
import { isServiceRecord, toRequestBody } from '../shared/request-body.js';
import { isFields, isTime, kindOf, notFields, notTime } from './send-body.js';
import type { TextCheck } from '../templates/text-check.js';
import { routes } from './routes.js';
import type {
  Campaign,
  CampaignCreate,
  CampaignPreview,
  CampaignQuery,
  CampaignSend,
  CampaignStats,
  CampaignTest,
  CreatedCampaign,
} from './types.js';

// In a whole campaign a field that is left out is unset, as `null` is.
const back = {
  answerOnly: ['id', 'status', 'type', 'scheduledAt', 'createdAt', 'updatedAt'],
  dropNull: 'all',
  dropEmpty: ['description', 'fromName', 'replyTo', 'segmentId'],
} as const;

const sentWait = {
  kind: 'Campaign',
  timeout: 3_600_000,
  interval: 10_000,
  isDone: (status: string | undefined) =>
    status?.toLowerCase() === 'sent' || jobStage(status) === 'done',
};

/** Fills in the variables of a text. */
type Render = (
  text: string,
  data: Readonly<Record<string, unknown>>,
) => { readonly text: string; readonly missing: readonly string[] };

/** What campaigns need beside their transport. */
interface CampaignParts {
  readonly checks: StatusChecks;
  readonly render: Render;
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
  readonly #render: Render;
  readonly #checkTexts: TextCheck;

  constructor(transport: Transport, { checks, render, checkTexts }: CampaignParts) {
    this.#transport = transport;
    this.#checks = checks;
    this.#render = render;
    this.#checkTexts = checkTexts;
  }

  /** Lists campaigns. `await` it for one page, `for await` it for every campaign. */
  list(query?: CampaignQuery, options?: ListOptions): Paginated<Campaign<Fields>> {
    return this.#transport.pages(routes.list, { query }, options) as Paginated<Campaign<Fields>>; // for any fields
  }

  /** Creates a campaign as a draft; `send()` sends it. */
  create(body: CampaignCreate<Fields>, options?: RequestOptions): Call<CreatedCampaign<Fields>> {
    this.#checkTexts(body);
    return this.#transport.send(
      routes.create,
      {
        body: toRequestBody<CampaignCreate>(body, back),
        about: { isServiceRecord: isServiceRecord(body) },
      },
      options,
    ) as Call<CreatedCampaign<Fields>>; // for any fields
  }

  /** Gets one campaign by its id. */
  get(id: string, options?: RequestOptions): Call<Campaign<Fields>> {
    return this.#transport.send(routes.get, { params: { id } }, options) as Call<Campaign<Fields>>; // for any fields
  }

  /** Replaces all fields of a campaign. */
  replace(
    id: string,
    body: CampaignCreate<Fields>,
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
    ) as Call<Campaign<Fields>>; // for any fields
  }

  /** Deletes a campaign; a `ConflictError` while it has active executions. */
  delete(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.delete, { params: { id } }, options);
  }

  /** Duplicates a campaign as a new draft. */
  duplicate(id: string, options?: RequestOptions): Call<Campaign<Fields>> {
    return this.#transport.send(routes.duplicate, { params: { id } }, options) as Call<
      Campaign<Fields>
    >; // for any fields
  }

  /** Sends a campaign to its whole audience: immediately, or at `scheduledFor`. */
  send(id: string, body?: CampaignSend, options?: RequestOptions): Call<Acknowledgement> {
    const input = { params: { id }, body: body ?? {} };
    if (isFields(input.body)) {
      return this.#transport.send(routes.send, input, options);
    }
    const before = { run: () => Promise.reject(notFields(kindOf(body))) };
    return this.#transport.send(routes.send, { ...input, before }, options);
  }

  /** Sends a campaign to its whole audience immediately. */
  sendNow(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.send(id, {}, options);
  }

  /**
   * Schedules a campaign. A time more than 60 seconds ago and a missing one are refused: the service
   * would send to everybody now.
   */
  schedule(id: string, at: Timestamp, options?: RequestOptions): Call<Acknowledgement> {
    const input = { params: { id }, body: { scheduledFor: at } };
    const guard = isTime(at) ? {} : { before: { run: () => Promise.reject(notTime()) } };
    return this.#transport.send(routes.send, { ...input, ...guard }, options);
  }

  /**
   * Reads a campaign and fills in its subject and body locally, as one contact would get them. Names the
   * variables that have neither a value nor a fallback.
   */
  async preview(
    id: string,
    data: Readonly<Record<string, unknown>> = {},
    options?: RequestOptions,
  ): Promise<CampaignPreview<Fields>> {
    const campaign = await this.get(id, options);
    const subject = this.#render(campaign.subject, data);
    const body = this.#render(campaign.body ?? '', data);
    const missing = [...new Set([...subject.missing, ...body.missing])];
    return { campaign, subject: subject.text, body: body.text, missing };
  }

  /**
   * Waits until a campaign was sent, and resolves with it. The service does not document the status
   * values: `sent` and words like `completed` end the wait, failed and cancelled campaigns reject with a
   * `JobFailedError`, and `isDone` decides otherwise. By default it checks every 10 s for an hour.
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
