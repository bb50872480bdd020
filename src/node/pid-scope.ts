import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { fingerprint } from '../core/values.js';
import { hasCode } from './file-system.js';

/** What process ids belong to. */
export interface PidScopeFacts {
  readonly hostname: string;
  /** Changes with every start of the machine; Linux only. */
  readonly bootId: string | undefined;
  /** Differs between containers, also when they share a hostname; Linux only. */
  readonly pidNamespace: string | undefined;
}

let own: string | undefined;
let start: string | undefined;

/** Names the set of processes in which this process's id is unique. */
export function pidScope(): string {
  own ??= nameOf({
    hostname: hostname(),
    bootId: unlessMissing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pidNamespace: unlessMissing(() => readlinkSync('/proc/self/ns/pid')),
  });
  return own;
}

/** Tells this process from earlier ones with its id: when it began, in ticks since the machine did. */
export function startToken(): string {
  start ??= unlessMissing(() => {
    const text = readFileSync('/proc/self/stat', 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  });
  return start ?? 'unknown';
}

/** Does a process of this scope still run? */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM'); // it runs, as another user
  }
}

/** The name of a scope, safe for use in a file name. */
export function nameOf({ hostname, bootId, pidNamespace }: PidScopeFacts): string {
  return fingerprint(JSON.stringify([hostname, bootId, pidNamespace]));
}

// Systems other than Linux have no such files.
function unlessMissing(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
