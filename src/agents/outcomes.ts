import { isPostreelError } from 'postreel';
import { messageOf, ToolRefusal } from './text.js';

/** The outcome of a step: `unknown` means that it may have happened. */
export type ToolStepOutcome = 'done' | 'partly' | 'failed' | 'unknown';

/** The number of parts of a step per outcome. */
export interface OutcomeCounts {
  readonly done: number;
  readonly failed: number;
  readonly unknown: number;
}

/** The result of a step of which some parts were done, or may have been, and others were not. */
export class PartialResult {
  constructor(
    readonly result: object,
    readonly counts: OutcomeCounts,
  ) {}

  /** The text for the agent and its person. */
  get summary(): string {
    return `Partly done: ${formatCounts(this.counts)}.`;
  }
}

/** Thrown by a step of several parts if none was certainly done. */
export class StepFailed extends Error {
  constructor(
    message: string,
    readonly outcome: 'failed' | 'unknown',
  ) {
    super(message);
  }
}

/** The outcome of the call that failed with this error. */
export function outcomeOf(error: unknown): 'failed' | 'unknown' {
  if (error instanceof StepFailed) {
    return error.outcome;
  }
  if (error instanceof ToolRefusal) {
    return 'failed';
  }
  const outcome = isPostreelError(error) ? error.outcome : undefined;
  return outcome === 'not-sent' || outcome === 'rejected' ? 'failed' : 'unknown';
}

/** Adds to the error of a step that it may have happened, unless its message says it already. */
export function unknownError(error: unknown): unknown {
  const isExplained =
    error instanceof StepFailed || (isPostreelError(error) && error.outcome === 'unknown');
  const message = `${messageOf(error)} It may have happened all the same: check before you plan it again.`;
  return isExplained ? error : new StepFailed(message, 'unknown');
}

/** Ends a step of several parts: returns its result if any part was done, and throws if none was. */
export function endStep(result: object, done: number, errors: readonly unknown[]): object {
  const unknown = errors.filter((error) => outcomeOf(error) === 'unknown').length;
  return endCountedStep(result, { done, failed: errors.length - unknown, unknown }, errors);
}

/** The same as `endStep()`, for parts that are already counted. */
export function endCountedStep(
  result: object,
  counts: OutcomeCounts,
  errors: readonly unknown[],
): object {
  const { done, failed, unknown } = counts;
  if (failed + unknown === 0) {
    return result;
  }
  if (done > 0) {
    return new PartialResult(result, counts);
  }
  const outcome = unknown > 0 ? 'unknown' : 'failed';
  const [only] = errors;
  if (failed + unknown === 1 && outcomeOf(only) === outcome) {
    throw only;
  }
  const reasons = [...new Set(errors.map(messageOf))].slice(0, maxReasons).join(' ');
  const what =
    unknown > 0
      ? `None is certainly done (${formatCounts(counts)}): check before you plan it again.`
      : `${failed === 1 ? 'It' : `All ${failed}`} failed, and nothing was done.`;
  throw new StepFailed(`${what} ${reasons}`, outcome);
}

const maxReasons = 5;

/** `2 done, 1 failed` */
export function formatCounts({
  done = 0,
  failed = 0,
  unknown = 0,
}: Partial<OutcomeCounts> = {}): string {
  return [
    [done, 'done'] as const,
    [failed, 'failed'] as const,
    [unknown, 'may have happened'] as const,
  ]
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number} ${word}`)
    .join(', ');
}
