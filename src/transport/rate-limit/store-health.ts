import { reasonOf } from '../../errors/reason.js';

/** What is asked of a store, and that it answers soon. */
export type StoreStep =
  | 'take'
  | 'speed'
  | 'release'
  | 'cancel'
  | 'renew'
  | 'close'
  | 'reopen'
  | 'lease'
  | 'hold'
  | 'give back';

/** Without these the process goes on by itself. */
const basic: readonly StoreStep[] = ['take', 'lease'];

/** What it means that a step fails. */
const consequences: Readonly<Record<StoreStep, string>> = {
  take: 'Until it answers, this process keeps to the limit by itself, and several processes may exceed it together',
  speed: 'Calls wait for it',
  release: 'A slot stays taken until its lease ends',
  cancel: 'A slot stays taken until its lease ends',
  renew: 'A slot may come free while its request is under way',
  close: 'Other processes go on sending although the service asked to wait',
  reopen: 'Other processes go on waiting although the service takes requests again',
  lease:
    'Until it answers, this process counts pending jobs by itself, and several processes may exceed their limit together',
  hold: 'The place of a job may come free for other processes while the job is under way',
  'give back': 'The place of a job stays taken until its lease ends',
};

/** Warns once per outage of the store of a rate budget, and whenever the process goes on without it. */
export class StoreHealth {
  readonly #failing = new Set<StoreStep>();
  readonly #warn: (message: string) => void;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** A step failed, or takes too long. */
  failed(step: StoreStep, reason: unknown): void {
    const isNew = this.#failing.size === 0 || (basic.includes(step) && !this.#failing.has(step));
    this.#failing.add(step);
    if (isNew) {
      const what = step === 'speed' ? 'is slow' : `failed to ${step}`;
      this.#warn(
        `The store of the rate limit ${what} (${reasonOf(reason)}). ${consequences[step]}.`,
      );
    }
  }

  /** A step succeeded: when it fails again, that is another outage. */
  succeeded(step: StoreStep): void {
    this.#failing.delete(step);
  }
}
