import { isPostreelError } from 'postreel';
import { messageOf, Refusal } from './text.js';

/** The outcome of a step: `unknown` means that it may have happened. */
export type ToolOutcome = 'done' | 'partly' | 'failed' | 'unknown';

/** The number of parts of a step per outcome. */
export interface Counts {
  readonly done: number;
  readonly failed: number;
  readonly unknown: number;
}

/** The result of a step of which some parts were done, or may have been, and others were not. */
export class Partly {
  constructor(
    readonly result: object,
    readonly counts: Counts,
  ) {}

  /** The text for the agent and its person. */
  get summary(): string {
    return `Partly done: ${countsText(this.counts)}.`;
  }
}

/** Thrown by a step of several parts if none was certainly done. */
export class NoneDone extends Error {
  constructor(
    message: string,
    readonly outcome: 'failed' | 'unknown',
  ) {
    super(message);
  }
}

/** The outcome of the call that failed with this error. */
export function outcomeOf(error: unknown): 'failed' | 'unknown' {
  if (error instanceof NoneDone) {
    return error.outcome;
  }
  if (error instanceof Refusal) {
    return 'failed';
  }
  const outcome = isPostreelError(error) ? error.outcome : undefined;
  return outcome === 'not-sent' || outcome === 'rejected' ? 'failed' : 'unknown';
}

/** Adds to the error of a step that it may have happened, unless its message says it already. */
export function unknownError(error: unknown): unknown {
  const says = error instanceof NoneDone || (isPostreelError(error) && error.outcome === 'unknown');
  const message = `${messageOf(error)} It may have happened all the same: check before you plan it again.`;
  return says ? error : new NoneDone(message, 'unknown');
}

/** Ends a step of several parts: returns its result if any part was done, and throws if none was. */
export function ended(result: object, done: number, errors: readonly unknown[]): object {
  const unknown = errors.filter((error) => outcomeOf(error) === 'unknown').length;
  return endedAs(result, { done, failed: errors.length - unknown, unknown }, errors);
}

/** The same as `ended()`, for parts that are already counted. */
export function endedAs(result: object, counts: Counts, errors: readonly unknown[]): object {
  const { done, failed, unknown } = counts;
  if (failed + unknown === 0) {
    return result;
  }
  if (done > 0) {
    return new Partly(result, counts);
  }
  const outcome = unknown > 0 ? 'unknown' : 'failed';
  const [only] = errors;
  if (failed + unknown === 1 && outcomeOf(only) === outcome) {
    throw only;
  }
  const reasons = [...new Set(errors.map(messageOf))].slice(0, maxReasons).join(' ');
  const what =
    unknown > 0
      ? `None is certainly done (${countsText(counts)}): check before you plan it again.`
      : `${failed === 1 ? 'It' : `All ${failed}`} failed, and nothing was done.`;
  throw new NoneDone(`${what} ${reasons}`, outcome);
}

const maxReasons = 5;

/** `2 done, 1 failed` */
export function countsText({ done = 0, failed = 0, unknown = 0 }: Partial<Counts> = {}): string {
  return [
    [done, 'done'] as const,
    [failed, 'failed'] as const,
    [unknown, 'may have happened'] as const,
  ]
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number} ${word}`)
    .join(', ');
}
