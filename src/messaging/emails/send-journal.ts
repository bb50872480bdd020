import { systemClock } from '../../core/async.js';
import { stateOf, type Facts } from '../../journal/facts.js';
import { Journal, type Attempt } from '../../journal/journal.js';
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
  readonly #journal: Journal;
  readonly #name: (email: string) => string;
  readonly #sendsUnknown: boolean;
  /** Claimed since this run began, by it or by another one, and not answered: that is no earlier run. */
  readonly #live = new Set<string>();
  /** The attempts to make, as far as they were looked up. */
  readonly #next = new Map<string, Attempt>();

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
    this.#journal = new Journal({
      store,
      prefix: 'email/',
      clock: systemClock,
      facts: ['claim', 'refused', 'accepted', 'dismissed'],
      onTrouble: warn,
    });
  }

  /** Looks recipients up; nothing that is known then is sent again. */
  async find(emails: readonly string[]): Promise<Map<string, KnownSend>> {
    const known = new Map<string, KnownSend>();
    const isOver = (facts: Facts) => stateOf(facts).state === 'refused';
    const attempts = await this.#journal.find(emails.map(this.#name), isOver);
    for (const email of emails) {
      const attempt = attempts.get(this.#name(email));
      const state = stateOf(attempt?.facts ?? {});
      if (attempt && state.state === 'claimed' && this.#sendsUnknown && !this.#live.has(email)) {
        await this.#journal.write(attempt, 'dismissed', { at: await this.#journal.now() });
        this.#next.set(email, { ...attempt, number: attempt.number + 1, facts: {} });
      } else if (state.state === 'claimed') {
        known.set(email, { state: 'claimed' });
      } else if (state.state === 'accepted') {
        known.set(email, { state: 'sent', id: String(state.record) });
      } else if (attempt) {
        this.#next.set(email, attempt);
      }
    }
    return known;
  }

  /** Claims a recipient who was looked up; `false` when another run was faster. */
  async claim(email: string): Promise<boolean> {
    const attempt = this.#attempt(email);
    const id = crypto.randomUUID();
    this.#live.add(email);
    const at = await this.#journal.now();
    const claim = { id, call: id, place: 0, at, print: '', owner: '' };
    return (await this.#journal.claim(attempt, claim)).id === id;
  }

  /** The service took the email. */
  async accept(email: string, id: string): Promise<void> {
    const fact = { ...(await this.#stamp()), record: id };
    await this.#journal.write(this.#attempt(email), 'accepted', fact);
    this.#live.delete(email);
    this.#next.delete(email);
  }

  /** The email was certainly not sent: the next attempt may be. */
  async refuse(email: string): Promise<void> {
    const attempt = this.#attempt(email);
    await this.#journal.write(attempt, 'refused', await this.#stamp());
    this.#live.delete(email);
    this.#next.set(email, { ...attempt, number: attempt.number + 1, facts: {} });
  }

  /** Resolves when everything is written. */
  flush(): Promise<void> {
    return this.#journal.flush();
  }

  #attempt(email: string): Attempt {
    return this.#next.get(email) ?? { name: this.#name(email), number: 1, facts: {} };
  }

  async #stamp(): Promise<{ at: number }> {
    return { at: await this.#journal.now().catch(() => Date.now()) };
  }
}
