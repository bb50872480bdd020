import { QueueDriver, type DriverListener } from '../driver/driver.js';
import { rulesOf, type InputKind } from '../driver/rules.js';
import type { QueueHost } from '../host.js';
import type { QueueInput } from '../input/intake.js';
import type { QueueOptions } from '../options.js';
import type { ReadEntry } from '../steps/events.js';
import type { Entry } from '../steps/jobs.js';

// So that a call is filled at once when slots come free, and the other keys find something too.
const inHandPerSlot = 1.5;

/** What makes a key of a queue. */
export interface KeyParts {
  readonly host: QueueHost;
  readonly owner: string | undefined;
  /** Where the jobs of the queue come from. */
  readonly input: InputKind;
}

/** One key of a queue: it works with the limits of its project. */
export class QueueKey {
  readonly host: QueueHost;
  readonly driver: QueueDriver;
  /** The project of the key; only known where there are several. */
  readonly owner: string | undefined;
  /** Has the service refused this key? */
  isRefused = false;
  /** The jobs that it was given, by their place in the input. */
  readonly inHand = new Map<number, Entry>();

  constructor(
    { host, owner, input }: KeyParts,
    options: QueueOptions,
    inputs: ReadonlyMap<number, QueueInput>,
    listener: DriverListener,
  ) {
    this.host = host;
    this.owner = owner;
    this.driver = new QueueDriver(
      { host, options, rules: rulesOf(options, host, input), inputs },
      listener,
    );
  }

  /** How many more jobs it may have beside other keys. */
  get room(): number {
    const { rules, isDraining } = this.driver.state;
    const isOpen = !this.isRefused && !isDraining && !this.driver.isStopped;
    return isOpen ? Math.ceil(inHandPerSlot * rules.concurrency) - this.inHand.size : 0;
  }

  /** Gives it jobs. */
  give(entries: readonly ReadEntry[]): void {
    entries.forEach(({ entry }) => this.inHand.set(entry.index, entry));
    this.driver.learn(entries.map(({ entry, known }) => [entry.name, known] as const));
    this.driver.dispatch({ type: 'read', entries });
  }
}
