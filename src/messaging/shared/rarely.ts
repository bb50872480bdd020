import { loadPart } from '../../transport/load-part.js';

/**
 * Loads what few programs call: contacts by email and in any number, guards, edits. A guard that
 * cannot be loaded refuses its call.
 */
export function loadRare() {
  return loadPart(() => import('../rare.js'));
}

/** Refuses to delete what the usage of a thing mentions. */
export async function refuseIfUsed(kind: string, name: string, usage: unknown): Promise<void> {
  const rare = await loadRare();
  rare.refuseIfUsed(kind, name, usage);
}
