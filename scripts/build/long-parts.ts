import type { Metafile } from 'esbuild';

/**
 * In bytes. A tarball has each file of both formats side by side, and gzip looks back 32 KB: two
 * files below that cost little more than one.
 */
const longest = 24_000;

/**
 * Continues a part that grows too long in another file: `parts/media`, `parts/media-2`. In the order
 * in which modules load, so that a file needs only those before it.
 */
export function cutLongParts(
  { inputs, outputs }: Metafile,
  fileOf: Map<string, string>,
  ownFiles: ReadonlySet<string>,
): void {
  const last = new Map<string, { count: number; bytes: number }>();
  const sizes = sizesOf(outputs);
  for (const path of inLoadingOrder(inputs)) {
    const part = fileOf.get(path);
    if (part === undefined || ownFiles.has(part)) {
      continue;
    }
    const size = sizes.get(path) ?? 0;
    const { count, bytes } = last.get(part) ?? { count: 1, bytes: 0 };
    const isFull = bytes > 0 && bytes + size > longest;
    const file = isFull ? { count: count + 1, bytes: size } : { count, bytes: bytes + size };
    last.set(part, file);
    fileOf.set(path, file.count === 1 ? part : `${part}-${file.count}`);
  }
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
