import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRecord } from '../../core/values.js';
import { defineWorkflow, type WorkflowDefinition } from 'postreel';
import { exportVariables, type Environment } from '../environment.js';
import { CommandEnd } from '../exit-codes.js';

/**
 * Returns the only workflow that a module of the user exports, under any name. Loading the module runs it, with
 * the variables of `.env`.
 */
export async function readDefinition(
  file: string,
  environment: Environment,
): Promise<WorkflowDefinition> {
  exportVariables(environment);
  const exported = Object.values(await load(file));
  const found = new Set(exported.filter(isDefinition));
  const [definition] = found;
  if (definition === undefined || found.size > 1) {
    const count = found.size === 0 ? 'no workflow' : `${found.size} workflows`;
    throw new CommandEnd('rejected', `${file} exports ${count}; it must export one.`);
  }
  return defineWorkflow(definition);
}

async function load(file: string): Promise<Record<string, unknown>> {
  try {
    // A computed address, so that the bundler does not resolve this import.
    const url = pathToFileURL(resolve(file)).href;
    return (await import(url)) as Record<string, unknown>; // as: a module is an object of its exports
  } catch (error) {
    const isType = /\.[cm]?tsx?$/.test(file);
    if (isType && isRecord(error) && error['code'] === 'ERR_UNKNOWN_FILE_EXTENSION') {
      const cure =
        'Install tsx and run `npx tsx node_modules/postreel/dist/cli.js workflows …`, or use Node 22.18 or later.';
      throw new CommandEnd('failed', `This Node cannot read TypeScript. ${cure}`);
    }
    throw error;
  }
}

function isDefinition(value: unknown): value is WorkflowDefinition {
  return isRecord(value) && isRecord(value['trigger']) && isRecord(value['steps']);
}
