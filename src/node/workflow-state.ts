import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isRecord } from '../core/values.js';
import type { WorkflowState, WorkflowStateStore } from '../messaging/workflows/code/state.js';
import { hasCode, syncFolder } from './file-system.js';
import { withLock } from './file-lock.js';
import { realPathOf } from './real-path.js';

/**
 * Keeps the states of workflow deployments in one JSON file, for `workflows.deploy()`: commit it, or
 * keep it where the next deployment finds it. Each write is on the disk before it resolves, and a
 * killed process leaves either the old file or the new one. Several processes may share the file, but
 * deploy one workflow from one process at a time.
 *
 * @param path - The file; it and its folder are created when needed. Beside it there is a lock.
 * @example
 * await messaging.workflows.deploy(onboarding, { state: fileWorkflowState('workflows.json') });
 */
export function fileWorkflowState(path: string): WorkflowStateStore {
  const given = resolve(path);
  return {
    read: async (key) => (await readStates(given)).get(key),
    write: async (key, state) => {
      await mkdir(dirname(given), { recursive: true });
      const file = await realPathOf(given);
      await mkdir(dirname(file), { recursive: true });
      await withLock(file, async () => {
        const states = await readStates(file);
        if (state === undefined) {
          states.delete(key);
        } else {
          states.set(key, state);
        }
        await replaceFile(file, `${JSON.stringify(Object.fromEntries(states), null, 2)}\n`);
      });
    },
  };
}

async function readStates(file: string): Promise<Map<string, WorkflowState>> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) {
      return '{}';
    }
    throw error;
  });
  const states: unknown = JSON.parse(text);
  if (!isRecord(states)) {
    throw new TypeError(`${file} does not contain the states of workflows.`);
  }
  return new Map(Object.entries(states as Record<string, WorkflowState>)); // as written above
}

async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`;
  const handle = await open(draft, 'wx', 0o644);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file).catch(async (error: unknown) => {
    await rm(draft, { force: true });
    throw error;
  });
  await syncFolder(dirname(file));
}
