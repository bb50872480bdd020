import type { WebhookResult } from '../core/types.js';

type ResultListener = (result: WebhookResult) => void;

const maxKept = 1_000;

/** Keeps the last 1000 results, for waits that begin before or after the callback. */
export class ResultCache {
  readonly #kept = new Map<string, WebhookResult>();
  readonly #waiting = new Map<string, Set<ResultListener>>();

  put(result: WebhookResult): void {
    const { fileId } = result;
    this.#keep(fileId, result);
    const listeners = this.#waiting.get(fileId) ?? [];
    this.#waiting.delete(fileId);
    for (const listener of listeners) {
      listener(result);
    }
  }

  wait(fileId: string, signal?: AbortSignal): Promise<WebhookResult> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const kept = this.#kept.get(fileId);
      if (kept) {
        resolve(kept);
        return;
      }
      const listener: ResultListener = (result) => {
        signal?.removeEventListener('abort', abort);
        resolve(result);
      };
      const abort = () => {
        this.#remove(fileId, listener);
        reject(signal?.reason as Error); // as: the caller's abort reason, of any type
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#add(fileId, listener);
    });
  }

  #keep(fileId: string, result: WebhookResult): void {
    this.#kept.delete(fileId); // moves the entry to the newest position
    this.#kept.set(fileId, result);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) {
      this.#kept.delete(oldest);
    }
  }

  #add(fileId: string, listener: ResultListener): void {
    const listeners = this.#waiting.get(fileId);
    if (listeners) {
      listeners.add(listener);
    } else {
      this.#waiting.set(fileId, new Set([listener]));
    }
  }

  #remove(fileId: string, listener: ResultListener): void {
    const listeners = this.#waiting.get(fileId);
    listeners?.delete(listener);
    if (listeners?.size === 0) {
      this.#waiting.delete(fileId);
    }
  }
}
