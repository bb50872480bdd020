import type { JournalStore } from 'postreel';
import type { OutcomeCounts, ToolStepOutcome } from './outcomes.js';

/** A step in the folder's journal: no texts and no addresses. */
export interface Step {
  /** The start of the step, in ISO 8601. */
  readonly at: string;
  /** Also `running` if the process ended before the step did. */
  readonly state: 'running' | ToolStepOutcome;
  /** The counts of a step that was partly done. */
  readonly counts?: OutcomeCounts | undefined;
  /** The ids of the objects that the step created. */
  readonly ids: readonly string[];
}

const keepMs = 90 * 24 * 3_600_000;

/** The steps that the servers of a folder have run, each stored under the id of its plan. */
export class Steps {
  readonly #journal: JournalStore;
  readonly #folder: string;
  #swept: Promise<void> | undefined;

  constructor(journal: JournalStore, isRehearsal = false) {
    this.#journal = journal;
    this.#folder = isRehearsal ? 'agent/rehearsal/' : 'agent/step/';
  }

  /** The steps whose ids begin with this hash: those with the same tool and input. */
  async findByInput(inputHash: string): Promise<Step[]> {
    const items = await this.#journal.list(`${this.#folder}${inputHash}-`);
    return items.map(({ value }) => parseStep(value));
  }

  async find(id: string): Promise<Step | undefined> {
    const item = await this.#journal.get(this.#folder + id);
    return item && parseStep(item.value);
  }

  /** Writes the start of a step to the journal; returns the function that writes its end. */
  async begin(id: string, at: string): Promise<(end: Omit<Step, 'at'>) => Promise<void>> {
    this.#swept ??= this.#sweep();
    await this.#swept;
    const begun = JSON.stringify({ at, state: 'running', ids: [] } satisfies Step);
    await this.#journal.swap(this.#folder + id, undefined, begun);
    return async (end) => {
      const ended = JSON.stringify({ at, ...end } satisfies Step);
      // Ignore a failed write: the step has ended, and the journal still says `running`.
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

function parseStep(value: string): Step {
  return JSON.parse(value) as Step; // as: written above
}
