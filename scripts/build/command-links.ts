import type { Metafile } from 'esbuild';

/** The modules of the library that the command imports instead of carrying a copy. */
export function takenBy(
  command: string,
  inputs: Metafile['inputs'],
  isHandedOn: (path: string) => boolean,
): Set<string> {
  const taken = new Set<string>();
  const seen = new Set<string>();
  const visit = (path: string): void => {
    seen.add(path);
    for (const { path: next, external } of inputs[path]?.imports ?? []) {
      if (external || seen.has(next)) {
        continue;
      }
      if (isHandedOn(next)) {
        taken.add(next);
      } else {
        visit(next);
      }
    }
  };
  visit(command);
  return taken;
}
