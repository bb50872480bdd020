import { fingerprint } from '../../contract/fingerprint.js';
import type { Connection } from '../../transport/connection.js';
import type { MediaEvents } from '../events.js';
import * as notices from '../notices.js';
import type { MediaOptions } from '../options.js';
import type { CallPlaces } from '../queue/slots/call-places.js';
import type { SendHooks, Submission } from './submit.js';

type Send = Submission['send'];

/**
 * Lets the calls beside a queue take their places in a shared store, so that another process does not
 * overfill the service. It does nothing without such a store, and loads nothing then.
 */
export class SharedPlaces {
  readonly #connection: Connection<MediaEvents, MediaOptions>;
  readonly #limit: number;
  #places: Promise<CallPlaces> | undefined;

  constructor(connection: Connection<MediaEvents, MediaOptions>, limit: number) {
    this.#connection = connection;
    this.#limit = limit;
  }

  /** The same call, with places that are taken right before it leaves. */
  around(send: Send, jobs: number): Send {
    const { store } = this.#connection.settings;
    if (!store?.lease) {
      return send;
    }
    return (hooks) => {
      let taken: readonly string[] | undefined;
      const beforeSending = async () => {
        const places = await this.#open();
        taken ??= await places.take(jobs, (message) =>
          notices.warn(this.#connection.events, message),
        );
        await hooks.beforeSending?.();
      };
      const call = send({ ...hooks, beforeSending } satisfies SendHooks);
      return call
        .map((records) => {
          const fileIds = records.map(({ fileId }) => fileId);
          this.#whenOpen((places) => places.keep(fileIds, taken ?? []));
          return records;
        })
        .beforeFailure((_, { outcome }) => {
          // What may have been made keeps its places until their leases end.
          if (taken && outcome !== 'unknown') {
            const given = taken;
            this.#whenOpen((places) => places.giveBack(given));
          }
        });
    };
  }

  /** A file is still being made. */
  renew(fileId: string): void {
    this.#whenOpen((places) => places.renew(fileId));
  }

  /** A file has come to its end. */
  end(fileId: string): void {
    this.#whenOpen((places) => places.end(fileId));
  }

  #open(): Promise<CallPlaces> {
    this.#places ??= this.#load().catch((failure: unknown) => {
      this.#places = undefined; // the next call tries again
      throw failure;
    });
    return this.#places;
  }

  // Until a call has opened them there are none.
  #whenOpen(use: (places: CallPlaces) => void): void {
    this.#places?.then(use).catch(() => undefined); // told by the call that could not open them
  }

  async #load(): Promise<CallPlaces> {
    const { store } = this.#connection.settings;
    const name = await this.#connection.projectName();
    // Loaded here: most clients have no store.
    const { CallPlaces } = await import('../queue/slots/call-places.js');
    if (!store) {
      throw new TypeError('places are taken in a store');
    }
    return new CallPlaces(store, { group: fingerprint(name), limit: this.#limit });
  }
}
