import type { JobRecord } from 'postreel/media';
import { step } from '../../../src/media/queue/scheduler.js';
import type { QueueCommand } from '../../../src/media/queue/steps/commands.js';
import type { QueueEvent, RefusalKind } from '../../../src/media/queue/steps/events.js';
import type { Entry } from '../../../src/media/queue/steps/jobs.js';
import {
  initialState,
  type QueueRules,
  type QueueState,
  type World,
} from '../../../src/media/queue/steps/state.js';

export const rules: QueueRules = {
  concurrency: 20,
  gapMs: 50_000,
  stallMs: 6 * 3_600_000,
  outageMs: 24 * 3_600_000,
  unknownMs: 600_000,
  timeoutMs: Number.POSITIVE_INFINITY,
  deadlineAt: Number.POSITIVE_INFINITY,
  readsPastDeadline: false,
  claimMs: 300_000,
  refusalsForAll: 5,
  maxJobs: Number.POSITIVE_INFINITY,
  maxMinutes: Number.POSITIVE_INFINITY,
  maxResults: 20,
};

export function entryOf(index: number, more: Partial<Entry> = {}): Entry {
  const base = { kind: 'video', minutes: 1, brand: undefined, needs: [], duration: 0 } as const;
  return { index, name: undefined, print: undefined, ...base, ...more };
}

export function entriesOf(count: number, more: (index: number) => Partial<Entry> = () => ({})) {
  return Array.from({ length: count }, (_, index) => entryOf(index, more(index)));
}

export function recordOf(fileId: string, kind: 'video' | 'audio' = 'video'): JobRecord {
  return { fileId, kind };
}

/** A scheduler step by step: what each event makes it do, with nothing around it. */
export class Steps {
  state: QueueState;
  world: World = {
    now: 0,
    freeSlots: 20,
    takenSlots: 0,
    maxAcceptedSlots: 0,
    nextSlotAt: Number.POSITIVE_INFINITY,
    otherFiles: [],
    callAt: 0,
    checksCount: false,
  };

  constructor(own: Partial<QueueRules> = {}) {
    this.state = initialState({ ...rules, ...own });
  }

  /** An event; the commands are what it comes to. */
  hear(event: QueueEvent, world: Partial<World> = {}): readonly QueueCommand[] {
    this.world = { ...this.world, ...world };
    const { state, commands } = step(this.state, event, this.world);
    this.state = state;
    return commands;
  }

  read(...entries: readonly Entry[]): readonly QueueCommand[] {
    return this.hear({ type: 'read', entries: entries.map((entry) => ({ entry })) });
  }

  /** Moves the clock. */
  at(now: number, world: Partial<World> = {}): readonly QueueCommand[] {
    return this.hear({ type: 'wake' }, { ...world, now });
  }

  accept(...fileIds: readonly (string | null)[]): readonly QueueCommand[] {
    const jobs = fileIds.map((fileId) => (fileId === null ? null : recordOf(fileId)));
    return this.hear({ type: 'accepted', jobs });
  }

  refuse(
    kind: RefusalKind,
    more: { answer?: string; retryAfterMs?: number; mayBeHalfWay?: boolean } = {},
  ): readonly QueueCommand[] {
    const { answer = 'no', retryAfterMs, mayBeHalfWay = false } = more;
    const refusal = { kind, answer, retryAfterMs, mayBeHalfWay, error: new Error(kind) };
    return this.hear({ type: 'refused', refusal });
  }

  pending(fileId: string, text = 'processing'): readonly QueueCommand[] {
    return this.hear({ type: 'checked', fileId, seen: { type: 'pending', text } });
  }

  finish(fileId: string): readonly QueueCommand[] {
    return this.hear({ type: 'checked', fileId, seen: { type: 'success', hasDownload: true } });
  }
}

/** The commands of one type. */
export function only<Type extends QueueCommand['type']>(
  commands: readonly QueueCommand[],
  type: Type,
): Extract<QueueCommand, { type: Type }>[] {
  return commands.filter(
    (command): command is Extract<QueueCommand, { type: Type }> => command.type === type,
  );
}

/** The places in the input of the jobs that are submitted. */
export function submitted(commands: readonly QueueCommand[]): number[] {
  return only(commands, 'submit').flatMap(({ entries }) => entries.map(({ index }) => index));
}

/** How jobs end, by their places in the input. */
export function ends(commands: readonly QueueCommand[]): [number, string][] {
  return only(commands, 'yield').map(({ entry, end }) => [entry.index, end.type]);
}

/** When the scheduler wants to be asked again. */
export function wakeAt(commands: readonly QueueCommand[]): number | undefined {
  return only(commands, 'wake')[0]?.at;
}
