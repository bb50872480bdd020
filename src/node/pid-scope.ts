import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { fingerprint } from '../core/fingerprint.js';
import { hasCode } from './file-system.js';

/** The facts that identify a scope of process ids. */
export interface PidScopeFacts {
  readonly hostname: string;
  /** Changes with every start of the machine; Linux only. */
  readonly bootId: string | undefined;
  /** Differs between containers, also when they share a hostname; Linux only. */
  readonly pidNamespace: string | undefined;
}

let own: string | undefined;
let start: string | undefined;
let thread: string | undefined;

/** Names the set of processes in which this process's id is unique. */
export function pidScope(): string {
  own ??= nameOf({
    hostname: hostname(),
    bootId: readIfPresent(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pidNamespace: readIfPresent(() => readlinkSync('/proc/self/ns/pid')),
  });
  return own;
}

/**
 * Distinguishes this process from earlier ones with the same id: its start time, in clock ticks since the
 * start of the machine.
 */
export function startToken(): string {
  start ??= readIfPresent(() => readStartTime('/proc/self/stat'));
  return start ?? 'unknown';
}

/**
 * Creates a name for the files of this process or worker thread: `<scope>-<pid>-<start>-<random>`, with
 * `t<id>.<start>` before the random part in a worker thread. Versions without support for threads read the
 * first three parts.
 */
export function createOwnerName(): string {
  thread ??= isMainThread ? '' : (readIfPresent(threadToken) ?? '');
  const parts = [pidScope(), process.pid, startToken(), thread, randomUUID()];
  return parts.filter((part) => part !== '').join('-');
}

/** True if the process or worker thread that created this name is dead; false if that is unknown. */
export function isOwnerDead(name: string): boolean {
  const [scope, pid, start, thread = ''] = name.split('-');
  if (scope !== pidScope()) {
    return false; // a process id of another scope has no meaning here
  }
  // In a container a restarted process may get the id of the dead one.
  const isGone = pid === String(process.pid) ? start !== startToken() : !isRunning(Number(pid));
  return isGone || isThreadDead(Number(pid), thread);
}

/** The system's id of this thread, and its start time; Linux only. */
function threadToken(): string {
  const [, id = ''] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
  return `t${id}.${readStartTime(`/proc/self/task/${id}/stat`)}`;
}

function isThreadDead(pid: number, token: string): boolean {
  const [, id, start] = /^t(\d+)\.(\d+)$/.exec(token) ?? [];
  if (id === undefined || !existsSync(`/proc/${pid}/task`)) {
    return false;
  }
  try {
    return readStartTime(`/proc/${pid}/task/${id}/stat`) !== start;
  } catch (error) {
    return hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH');
  }
}

/** Reads the start time of a process or a thread. Skips its name in parentheses, which may contain spaces. */
function readStartTime(statFile: string): string | undefined {
  const text = readFileSync(statFile, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}

/** True if this process of the scope still runs. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM'); // the process runs under another user
  }
}

/** The name of a scope, safe for use in a file name. */
export function nameOf({ hostname, bootId, pidNamespace }: PidScopeFacts): string {
  return fingerprint(JSON.stringify([hostname, bootId, pidNamespace]));
}

// Systems other than Linux have no such files.
function readIfPresent(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
