import type { Metafile } from 'esbuild';

/**
 * In bytes. A tarball has each file of both formats side by side, and gzip looks back 32 KB: two
 * files below that cost little more than one.
 */
const longest = 24_000;

/**
 * Continues a file that grows too long in another one: `parts/media`, `parts/media-2`. In the order
 * in which modules load, so that a file needs only those before it. What a lazy import asks for keeps
 * the name of its file.
 */
export function cutLongParts(
  { inputs, outputs }: Metafile,
  fileOf: Map<string, string>,
  rootOf: ReadonlyMap<string, string>,
): void {
  const sizes = sizesOf(outputs);
  const order = inLoadingOrder(inputs);
  for (const part of new Set(fileOf.values())) {
    const modules = order.filter((path) => fileOf.get(path) === part);
    const root = rootOf.get(part);
    const movable = modules.filter((path) => path !== root);
    const total = modules.reduce((bytes, path) => bytes + (sizes.get(path) ?? 0), 0);
    if (total > longest) {
      cutIntoFiles(movable, sizes).forEach((file, index) => {
        const number = index + (root === undefined ? 1 : 2);
        file.forEach((path) => fileOf.set(path, number === 1 ? part : `${part}-${number}`));
      });
    }
  }
}

function cutIntoFiles(modules: readonly string[], sizes: ReadonlyMap<string, number>): string[][] {
  const files: string[][] = [];
  let bytes = Infinity;
  for (const path of modules) {
    const size = sizes.get(path) ?? 0;
    if (bytes + size > longest) {
      files.push([]);
      bytes = 0;
    }
    files.at(-1)?.push(path);
    bytes += size;
  }
  return files;
}

/** What is left of each module in a bundle. */
function sizesOf(outputs: Metafile['outputs']): Map<string, number> {
  const all = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return new Map(all.map(([path, { bytesInOutput }]) => [path, bytesInOutput]));
}

/** Each module after those that it imports. */
function inLoadingOrder(inputs: Metafile['inputs']): string[] {
  const order = new Set<string>();
  const visit = (path: string): void => {
    for (const { kind, path: next, external } of inputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && !external && !order.has(next)) {
        visit(next);
      }
    }
    order.add(path);
  };
  Object.keys(inputs).sort().forEach(visit);
  return [...order];
}
