import type { Inbox } from '../../core/types.js';

/** A listener for the callback of a file. */
export interface CallbackListener {
  readonly hasArrived: boolean;
  /** Calls the listener when the callback arrives, or at once when it arrived since the last listener. */
  onArrival(listener: () => void): () => void;
  /** Stops listening for the callback. */
  stop(): void;
}

/** Listens for the callback of a file. Without an inbox no callback ever arrives. */
export function listenForCallback(
  inbox: Inbox | undefined,
  fileId: string,
  onFailure: (error: unknown) => void,
): CallbackListener {
  const ended = new AbortController();
  const state: { hasArrived: boolean; isNew: boolean; listener?: (() => void) | undefined } = {
    hasArrived: false,
    isNew: false,
  };
  const notify = () => {
    const { listener } = state;
    state.hasArrived = true;
    state.isNew = listener === undefined;
    listener?.();
  };
  // An inbox that the caller wrote may throw synchronously, so the call is inside an async function.
  const wait = async () => inbox?.wait(fileId, { signal: ended.signal });
  wait().then(inbox && notify, (error: unknown) => {
    if (!ended.signal.aborted) {
      onFailure(error);
      notify(); // from now on the wait checks as often as without an inbox
    }
  });
  return {
    get hasArrived() {
      return state.hasArrived;
    },
    onArrival(listener) {
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
