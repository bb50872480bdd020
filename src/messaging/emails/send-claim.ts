import type { KnownSend, SendEntry, SendJournal } from './send-journal.js';

/** The names of one batch in the journal, from the claim to what became of each. */
export class SendClaim {
  readonly #journal: SendJournal | undefined;
  readonly #released: string[] = [];
  readonly #id = crypto.randomUUID();
  /** Those that the journal counts as open, in its order. */
  #open: readonly string[];

  constructor(journal: SendJournal | undefined, names: readonly string[]) {
    this.#journal = journal;
    this.#open = names;
  }

  /** Claims all of the names, or none: then it resolves to what is known of those that are taken. */
  async open(): Promise<ReadonlyMap<string, KnownSend>> {
    if (!this.#journal || this.#open.length === 0) {
      return new Map();
    }
    return this.#journal.claim(intentOf(this.#id, this.#open));
  }

  async accept(name: string, fileId: string): Promise<void> {
    const names = this.#open;
    this.#open = names.filter((one) => one !== name);
    const record = { fileId, kind: 'email' } as const;
    const jobs = names.map((one) => (one === name ? record : null));
    const { append } = this;
    await Promise.all([
      append({ type: 'accepted', id: this.#id, jobs }),
      // Nobody has to look after an email that was sent.
      append({ type: 'settled', fileId, status: 'sent' }),
    ]);
  }

  /** Gives a name back when the batch is over. */
  release(name: string): void {
    this.#released.push(name);
  }

  /** Frees the names of emails that were not sent; what is unknown stays claimed. */
  async close(): Promise<void> {
    if (this.#released.length === 0) {
      return;
    }
    const unknown = this.#open.filter((name) => !this.#released.includes(name));
    const { append } = this;
    await Promise.all([
      // First, so that a crash in between frees nobody.
      unknown.length > 0 && append(intentOf(crypto.randomUUID(), unknown)),
      append({ type: 'refused', id: this.#id }),
    ]);
  }

  readonly append = async (entry: SendEntry): Promise<void> => {
    await this.#journal?.append(entry);
  };
}

function intentOf(id: string, names: readonly string[]) {
  return { type: 'intent', id, at: new Date().toISOString(), jobs: [], names } as const;
}
