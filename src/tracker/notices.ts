import type { Tracker, TrackerNotices } from './types.js';

/** Calls the listeners of one notice. */
export type Emit = <Notice extends keyof TrackerNotices>(
  notice: Notice,
  detail: TrackerNotices[Notice],
) => void;

/** The notices of a tracker to the page, and its warnings to the developer. */
export interface Notices {
  readonly on: Tracker['on'];
  readonly emit: Emit;
  /** Emits a `warning` about a failure that the tracker works around; each message once. */
  readonly warn: (message: string) => void;
  /** Like `warn()`, and also writes to the console: the developer must fix something. */
  readonly warnDeveloper: (message: string) => void;
}

/**
 * Creates the notices of a tracker. Each listener runs in a separate microtask, so its errors cannot stop the
 * queue.
 */
export const createNotices = (): Notices => {
  const listeners = new Set<readonly [string, (detail: never) => void]>();
  const emitted = new Set<string>();
  const emit: Emit = (notice, detail) => {
    for (const [name, listener] of listeners) {
      // Each listener accepts the detail of the notice that it is registered for.
      if (name === notice) {
        void Promise.resolve(detail as never).then(listener);
      }
    }
  };
  const isNew = (message: string): boolean => !emitted.has(message) && !!emitted.add(message);
  const warn = (message: string) => {
    if (isNew(message)) {
      // Emit later, so that the creator of the tracker can add a listener first.
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
      if (!emitted.has(message)) {
        console.warn(`[postreel tracker] ${message}`);
      }
      warn(message);
    },
  };
};
