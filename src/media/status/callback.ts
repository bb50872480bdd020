import type { Inbox } from '../../contract/inbox.js';

/** The callback of one file, for a wait. */
export interface CallbackNews {
  readonly hasCome: boolean;
  /** Calls back when the callback has come and no status check since. */
  onNews(listener: () => void): () => void;
  /** Stops listening for the callback. */
  stop(): void;
}

/** Listens for the callback of a file; without an inbox there is never one. */
export function callbackNews(inbox: Inbox | undefined, fileId: string): CallbackNews {
  const ended = new AbortController();
  const state: { hasCome: boolean; isNew: boolean; listener?: (() => void) | undefined } = {
    hasCome: false,
    isNew: false,
  };
  const notify = () => {
    const { listener } = state;
    state.hasCome = true;
    state.isNew = listener === undefined;
    listener?.();
  };
  inbox?.wait(fileId, { signal: ended.signal }).then(notify, () => undefined); // the wait goes on with status checks
  return {
    get hasCome() {
      return state.hasCome;
    },
    onNews(listener) {
      state.listener = listener;
      if (state.isNew) {
        notify();
      }
      return () => {
        state.listener = undefined;
      };
    },
    stop: () => ended.abort(),
  };
}
