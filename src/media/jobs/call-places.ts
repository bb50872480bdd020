import { systemClock } from '../../core/async.js';
import { fingerprint } from '../../core/values.js';
import type { Connection } from '../../core/client.js';
import type { MediaEvents } from '../events.js';
import * as notices from '../notices.js';
import type { MediaOptions } from '../options.js';
import { SlotLeases } from './slot-leases.js';
import type { SendHooks, Submission } from './submit.js';

type Send = Submission['send'];

const renewEveryMs = 60_000;

/**
 * The places of jobs that are submitted beside a queue, in a store that several processes share, so that
 * another process does not overfill the service. A job that is not waited for keeps its place for one
 * lease: its end is not seen here. Nothing is done without such a store.
 */
export class CallPlaces {
  readonly #connection: Connection<MediaEvents, MediaOptions>;
  readonly #limit: number;
  readonly #places = new Map<string, { readonly name: string; readonly renewedAt: number }>();
  /** Opened by the first call: until then there are no places. */
  #leases: SlotLeases | undefined;

  constructor(connection: Connection<MediaEvents, MediaOptions>, limit: number) {
    this.#connection = connection;
    this.#limit = limit;
  }

  /** The same call, with places that are taken right before it leaves: as many as there are. */
  around(send: Send, jobs: number): Send {
    const { store } = this.#connection.settings;
    if (!store?.lease) {
      return send;
    }
    return (hooks) => {
      let taken: readonly string[] | undefined;
      const beforeSending = async () => {
        this.#leases ??= await this.#open(store);
        taken ??= (await this.#leases.take(jobs, this.#limit)) ?? [];
        await hooks.beforeSending?.();
      };
      const call = send({ ...hooks, beforeSending } satisfies SendHooks);
      return call
        .map((records) => {
          const fileIds = records.map(({ fileId }) => fileId);
          this.#keep(fileIds, taken ?? []);
          return records;
        })
        .tapError((_, { outcome }) => {
          // What may have been made keeps its places until their leases end.
          if (taken && outcome !== 'unknown') {
            this.#leases?.giveBack(taken);
          }
        });
    };
  }

  /** A file is still being made. */
  renew(fileId: string): void {
    const place = this.#places.get(fileId);
    const now = systemClock.now();
    if (place && now - place.renewedAt >= renewEveryMs) {
      this.#places.set(fileId, { ...place, renewedAt: now });
      this.#leases?.hold([place.name], []);
    }
  }

  /** A file has come to its end. */
  end(fileId: string): void {
    const place = this.#places.get(fileId);
    if (place) {
      this.#places.delete(fileId);
      this.#leases?.giveBack([place.name]);
    }
  }

  async #open(store: ConstructorParameters<typeof SlotLeases>[0]): Promise<SlotLeases> {
    const name = await this.#connection.projectName();
    const leases = new SlotLeases(store, fingerprint(name), systemClock);
    leases.warn = (message) => notices.warn(this.#connection.events, message);
    return leases;
  }

  // The jobs of a call were accepted: they have places now, whether there were any or not.
  #keep(fileIds: readonly string[], taken: readonly string[]): void {
    for (const [index, fileId] of fileIds.entries()) {
      const name = this.#leases?.canHold ? fileId : taken[index];
      if (name !== undefined) {
        this.#places.set(fileId, { name, renewedAt: systemClock.now() });
      }
    }
    this.#leases?.hold(fileIds, taken);
  }
}
