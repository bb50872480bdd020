import { readFile, rename, writeFile } from 'node:fs/promises';
import type {
  WorkflowState,
  WorkflowStateStore,
} from '../../../../messaging/workflows/code/state.js';

type States = Readonly<Record<string, WorkflowState>>;

/** Remembers deployments in a JSON file, to be committed with the workflows. */
export function fileWorkflowState(path: string): WorkflowStateStore {
  return {
    async read(key) {
      return (await readStates(path))[key];
    },
    async write(key, state) {
      // JSON leaves out what is undefined.
      const states = { ...(await readStates(path)), [key]: state };
      // Renamed, so that a crash leaves the old file or the new one.
      await writeFile(`${path}.new`, `${JSON.stringify(states, undefined, 2)}\n`);
      await rename(`${path}.new`, path);
    },
  };
}

async function readStates(path: string): Promise<States> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return '{}';
    }
    throw error;
  });
  return JSON.parse(text) as States; // as written above
}
