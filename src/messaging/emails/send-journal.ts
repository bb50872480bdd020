import { systemClock } from '../../core/async.js';
import { Ledger, type Claimed, type Known } from '../../journal/ledger.js';
import { nameOf, scopeOf } from '../../journal/names.js';
import type { JournalStore } from '../../journal/store.js';

/** What is known of the email to one recipient. */
export type KnownSend =
  /** It is on its way, or its answer was lost. */
  { readonly state: 'claimed' } | { readonly state: 'sent'; readonly id: string };

/** The project that an email belongs to. */
export interface SendProject {
  readonly baseUrl: string;
  readonly group: string | undefined;
}

/** Who has an email, by the names of its recipients. */
export class SendJournal {
  readonly #ledger: Ledger;
  readonly #name: (email: string) => string;
  readonly #sendsUnknown: boolean;
  /** Claims of this run that are not answered, and claims of earlier runs that are taken over. */
  readonly #claims = new Map<string, Known>();
  readonly #lost = new Map<string, Known>();
  /** Claimed since this run began, by it or by another one: that is no earlier run. */
  readonly #live = new Set<string>();

  constructor(
    store: JournalStore,
    project: SendProject,
    {
      key,
      sendsUnknown,
      warn,
    }: { key: string; sendsUnknown: boolean; warn: (text: string) => void },
  ) {
    const scope = scopeOf(store, project);
    this.#name = (email) => `${scope}/${nameOf([key, email])}`;
    this.#sendsUnknown = sendsUnknown;
    this.#ledger = new Ledger({ store, prefix: 'email/', clock: systemClock, onTrouble: warn });
  }

  /** Looks recipients up; nothing that is known then is sent again. */
  async find(emails: readonly string[]): Promise<Map<string, KnownSend>> {
    const known = new Map<string, KnownSend>();
    const found = await Promise.all(emails.map((email) => this.#ledger.find(this.#name(email))));
    for (const [index, email] of emails.entries()) {
      const one = found[index];
      if (one?.entry.state === 'accepted') {
        known.set(email, { state: 'sent', id: String(one.entry.record) });
      } else if (one && this.#sendsUnknown && !this.#live.has(email)) {
        this.#lost.set(email, one);
      } else if (one) {
        known.set(email, { state: 'claimed' });
      }
    }
    return known;
  }

  /** Claims a recipient who was looked up; `false` when another run was faster. */
  async claim(email: string): Promise<boolean> {
    const id = crypto.randomUUID();
    this.#live.add(email);
    const claim: Claimed = { state: 'claimed', id, call: id, place: 0, print: '' };
    const own = await this.#ledger.claim(this.#name(email), claim, this.#lost.get(email));
    if (own) {
      this.#claims.set(email, own);
    }
    return own !== undefined;
  }

  /** The service took the email. */
  accept(email: string, id: string): Promise<void> {
    const own = this.#end(email);
    if (own) {
      this.#ledger.change(own, { ...own.entry, state: 'accepted', record: id });
    }
    return Promise.resolve();
  }

  /** The email was certainly not sent: the next attempt may be. */
  refuse(email: string): Promise<void> {
    const own = this.#end(email);
    if (own) {
      this.#ledger.change(own, undefined);
    }
    return Promise.resolve();
  }

  /** Resolves when everything is written. */
  flush(): Promise<void> {
    return this.#ledger.flush();
  }

  #end(email: string): Known | undefined {
    const own = this.#claims.get(email);
    this.#claims.delete(email);
    this.#lost.delete(email);
    this.#live.delete(email);
    return own;
  }
}
