import type { Call, RequestOptions } from '../../contract/call.js';
import type { NamesOf } from '../../contract/methods.js';
import type { Paginated } from '../../contract/paginated.js';
import type { Acknowledgement } from '../../contract/records.js';
import type { Transport } from '../../transport/transport.js';
import { isReturned, writable } from '../shared/write-back.js';
import { isFields, notFields } from './send-body.js';
import { routes } from './routes.js';
import type {
  Campaign,
  CampaignCreate,
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

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists campaigns. `await` it for one page, `for await` it for every campaign. */
  list(query?: CampaignQuery, options?: RequestOptions): Paginated<Campaign<Fields>> {
    return this.#transport.pages(routes.list, { query }, options) as Paginated<Campaign<Fields>>; // for any fields
  }

  /** Creates a campaign as a draft; `send()` sends it. */
  create(body: CampaignCreate<Fields>, options?: RequestOptions): Call<CreatedCampaign<Fields>> {
    return this.#transport.send(
      routes.create,
      { body: writable<CampaignCreate>(body, back), isHandedBack: isReturned(body) },
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
    return this.#transport.send(
      routes.replace,
      {
        params: { id },
        body: writable<CampaignCreate>(body, back),
        isHandedBack: isReturned(body),
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
    const bodyLater = () => Promise.reject(notFields(body));
    return this.#transport.send(routes.send, { ...input, bodyLater }, options);
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
