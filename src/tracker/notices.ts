import type { Tracker, TrackerNotices } from './types.js';

/** Tells the listeners of one notice. */
export type Emit = <Notice extends keyof TrackerNotices>(
  notice: Notice,
  detail: TrackerNotices[Notice],
) => void;

/** What a tracker tells the page, and its developer. */
export interface Notices {
  readonly on: Tracker['on'];
  readonly emit: Emit;
  /** Tells once of what failed and is gone on without. */
  readonly warn: (message: string) => void;
  /** The same of what a developer has to mend: in the console too. */
  readonly warnDeveloper: (message: string) => void;
}

/** Each listener runs in its own microtask: its errors cannot stop the queue. */
export const createNotices = (): Notices => {
  const listeners = new Set<readonly [string, (detail: never) => void]>();
  const told = new Set<string>();
  const emit: Emit = (notice, detail) => {
    for (const [name, listener] of listeners) {
      // Under its own name each listener takes what is emitted.
      if (name === notice) {
        void Promise.resolve(detail as never).then(listener);
      }
    }
  };
  const isNew = (message: string): boolean => !told.has(message) && !!told.add(message);
  const warn = (message: string) => {
    if (isNew(message)) {
      // Later, so that whoever made the tracker can listen first.
      queueMicrotask(() => emit('warning', { message }));
    }
  };
  return {
    on: (notice, listener) => {
      const entry = [notice, listener] as const;
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    emit,
    warn,
    warnDeveloper: (message) => {
      if (!told.has(message)) {
        console.warn(`[postreel tracker] ${message}`);
      }
      warn(message);
    },
  };
};
