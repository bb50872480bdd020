/** Wakes up who waits for a change. A ring that nobody hears is kept for the next one who listens. */
export class Bell {
  #isRung = false;
  #wake: () => void = () => undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  /** Resolves when it rings, after so long, or when something else has come. */
  async heard(longestMs = Number.POSITIVE_INFINITY, other?: Promise<unknown>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    if (!this.#isRung) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (Number.isFinite(longestMs)) {
          timer = setTimeout(resolve, Math.max(1, longestMs));
        }
        void other?.then(() => resolve());
      });
    }
    clearTimeout(timer);
    this.#isRung = false;
  }
}
