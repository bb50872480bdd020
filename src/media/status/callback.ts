import type { Inbox } from '../../core/types.js';

/** Tells a wait about the callback of its file. */
export interface CallbackNews {
  readonly hasCome: boolean;
  /** Calls the listener when the callback arrives, or at once when it arrived since the last listener. */
  onNews(listener: () => void): () => void;
  /** Stops listening for the callback. */
  stop(): void;
}

/** Listens for the callback of a file. Without an inbox no callback ever arrives. */
export function callbackNews(
  inbox: Inbox | undefined,
  fileId: string,
  onFailure: (error: unknown) => void,
): CallbackNews {
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
  // An inbox that the caller wrote may throw synchronously, so the call is inside an async function.
  const heard = async () => inbox?.wait(fileId, { signal: ended.signal });
  heard().then(inbox && notify, (error: unknown) => {
    if (!ended.signal.aborted) {
      onFailure(error);
      notify(); // from now on the wait checks as often as without an inbox
    }
  });
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
