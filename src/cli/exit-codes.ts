import { isPostreelError, type PostreelError } from 'postreel';

/** The exit codes of commands. Scripts rely on these numbers: they never change. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  configuration: 3,
  rejected: 4,
  unknown: 5,
  unavailable: 6,
  jobFailed: 7,
  notConfirmed: 8,
  different: 9,
  interrupted: 130,
} as const;

/** The meaning of each exit code, for `--help` and for people. */
export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done',
  failed: 'failed for a reason that has no separate code, such as a file that cannot be read',
  usage: 'the command line is wrong',
  configuration: 'a key or an address is missing, wrong or not allowed to do this',
  rejected: 'the request was refused, and nothing happened',
  unknown: 'it may have happened: check before you run the command again',
  unavailable: 'the service could not be reached or is overloaded, and nothing happened',
  jobFailed: 'a job failed, was canceled or took too long, or some of many items failed',
  notConfirmed: 'nothing was done, because the plan was not confirmed (use --yes)',
  different: 'a check found a difference or a problem',
  interrupted: 'interrupted by Ctrl+C',
};

/**
 * Thrown to end a command without a fault of the program: the reason is already in the terminal, or is the
 * message.
 */
export class CommandEnd extends Error {
  readonly exitCode: number;

  constructor(end: keyof typeof exitCodes | number, message = '') {
    super(message);
    this.exitCode = typeof end === 'number' ? end : exitCodes[end];
  }
}

/** The exit code for the error of a command. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandEnd) {
    return error.exitCode;
  }
  return isPostreelError(error) ? exitCodes[endOf(error)] : exitCodes.failed;
}

const jobErrors = [
  'GenerationFailedError',
  'GenerationCanceledError',
  'JobFailedError',
  'LongAudioError',
  'PartialError',
  'WaitTimeoutError',
];

const passingErrors = ['ConnectionError', 'TimeoutError', 'RateLimitError', 'ServerError'];

function endOf(error: PostreelError): keyof typeof exitCodes {
  if (jobErrors.includes(error.name)) {
    return 'jobFailed';
  }
  if (error.name === 'ConfigurationError' || error.status === 401 || error.status === 403) {
    return 'configuration';
  }
  if (error.name === 'InvalidRequestError') {
    return 'rejected';
  }
  // A 429 to a mail for several people leaves open whether the first of them were mailed.
  if (error.outcome === 'unknown') {
    return 'unknown';
  }
  // A read that failed is `rejected`, whether or not the service has refused it.
  const isRefused = error.outcome === 'rejected' && !passingErrors.includes(error.name);
  return isRefused ? 'rejected' : 'unavailable';
}
