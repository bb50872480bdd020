import { InvalidRequestError } from '../../core/errors.js';
import type { KnownJob } from '../jobs/journal-types.js';
import type { Entry } from './steps/jobs.js';

/** The error of a job whose name stands for other content in the journal: that file is another job's. */
export function nameTaken(
  { print }: Entry,
  known: KnownJob | undefined,
): InvalidRequestError | undefined {
  if (known?.print === undefined || known.print === print) {
    return undefined;
  }
  return new InvalidRequestError(
    `The journal has another job under this name: its content is ${known.print}, this one's ${String(print)}. Give each job a \`key\` of its own.`,
    { code: 'JOB_NAME_TAKEN', outcome: 'not-sent' },
  );
}
