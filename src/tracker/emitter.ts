import type { Tracker } from './options.js';
import type { TrackerNotices } from './types.js';

/** Tells the listeners of one notice. */
export type Emit = <Notice extends keyof TrackerNotices>(
  notice: Notice,
  detail: TrackerNotices[Notice],
) => void;

/** Each listener runs in its own microtask: its errors cannot stop the queue. */
export const createEmitter = (): { readonly on: Tracker['on']; readonly emit: Emit } => {
  const listeners = new Set<readonly [string, (detail: never) => void]>();
  return {
    on: (notice, listener) => {
      const entry = [notice, listener] as const;
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    emit: (notice, detail) => {
      for (const [name, listener] of listeners) {
        // Under its own name each listener takes what is emitted.
        if (name === notice) {
          void Promise.resolve(detail as never).then(listener);
        }
      }
    },
  };
};
