import type { WebhookResult } from '../core/types.js';

type Take = (result: WebhookResult) => void;

const maxKept = 1_000;

/** Keeps the last 1000 results, for waits that begin before or after the callback. */
export class ResultCache {
  readonly #kept = new Map<string, WebhookResult>();
  readonly #waiting = new Map<string, Set<Take>>();

  put(result: WebhookResult): void {
    const { fileId } = result;
    this.#keep(fileId, result);
    const takers = this.#waiting.get(fileId) ?? [];
    this.#waiting.delete(fileId);
    for (const take of takers) {
      take(result);
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
      const take: Take = (result) => {
        signal?.removeEventListener('abort', leave);
        resolve(result);
      };
      const leave = () => {
        this.#remove(fileId, take);
        reject(signal?.reason as Error); // as: the caller's abort reason, of any type
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#add(fileId, take);
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

  #add(fileId: string, take: Take): void {
    const takers = this.#waiting.get(fileId);
    if (takers) {
      takers.add(take);
    } else {
      this.#waiting.set(fileId, new Set([take]));
    }
  }

  #remove(fileId: string, take: Take): void {
    const takers = this.#waiting.get(fileId);
    takers?.delete(take);
    if (takers?.size === 0) {
      this.#waiting.delete(fileId);
    }
  }
}
