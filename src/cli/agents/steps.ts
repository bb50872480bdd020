import type { JournalStore } from 'postreel';
import type { Counts, ToolOutcome } from './outcomes.js';

/** What the journal of the folder knows of a step: no texts and no addresses. */
export interface Step {
  /** When it was begun, in ISO 8601. */
  readonly at: string;
  /** `running` as well where the process ended before the step did. */
  readonly state: 'running' | ToolOutcome;
  /** Of a step that was partly done. */
  readonly counts?: Counts | undefined;
  /** Of what it made. */
  readonly ids: readonly string[];
}

const keepMs = 90 * 24 * 3_600_000;

/** The steps that were carried out by the servers of a folder, each under the id of its plan. */
export class Steps {
  readonly #journal: JournalStore;
  readonly #folder: string;
  #swept: Promise<void> | undefined;

  constructor(journal: JournalStore, isRehearsal = false) {
    this.#journal = journal;
    this.#folder = isRehearsal ? 'agent/rehearsal/' : 'agent/step/';
  }

  /** The steps whose ids begin with this: those of one content. */
  async withPrint(print: string): Promise<Step[]> {
    const items = await this.#journal.list(`${this.#folder}${print}-`);
    return items.map(({ value }) => stepIn(value));
  }

  async find(id: string): Promise<Step | undefined> {
    const item = await this.#journal.get(this.#folder + id);
    return item && stepIn(item.value);
  }

  /** Writes down that a step begins, and returns what writes its end. */
  async begin(id: string, at: string): Promise<(end: Omit<Step, 'at'>) => Promise<void>> {
    this.#swept ??= this.#sweep();
    await this.#swept;
    const begun = JSON.stringify({ at, state: 'running', ids: [] } satisfies Step);
    await this.#journal.swap(this.#folder + id, undefined, begun);
    return async (end) => {
      const ended = JSON.stringify({ at, ...end } satisfies Step);
      // A step whose end cannot be written has ended all the same: the journal then says `running`.
      await this.#journal.swap(this.#folder + id, begun, ended).catch(() => undefined);
    };
  }

  async #sweep(): Promise<void> {
    for (const { key, value, ageMs } of await this.#journal.list(this.#folder)) {
      if (ageMs > keepMs) {
        await this.#journal.swap(key, value, undefined);
      }
    }
  }
}

function stepIn(value: string): Step {
  return JSON.parse(value) as Step; // as: written above
}
