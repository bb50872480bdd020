import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const repository = fileURLToPath(new URL('..', import.meta.url));

/** What a bundler for browsers makes of the built package. */
export interface Bundle {
  /** What a page loads at once, in bytes after gzip. */
  readonly eager: number;
  /** What comes with the first call that needs a schema, in bytes after gzip. */
  readonly lazy: number;
  /** The files in what is loaded at once, and those in the rest. */
  readonly eagerFiles: readonly string[];
  readonly lazyFiles: readonly string[];
  /** What no bundle holds, because the runtime has to bring it. */
  readonly externals: readonly string[];
}

/** Bundles a module that imports from the package, as its users would. */
export async function bundle(
  code: string,
  external: readonly string[] = [],
  resolveDir = repository,
): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir },
    absWorkingDir: repository,
    outdir: 'out',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'error',
    external: [...external],
    // The repository's own tsconfig.json would lead to the sources.
    tsconfigRaw: {},
  });
  const outputs = Object.entries(metafile.outputs).map(
    ([path, { inputs, imports, entryPoint }]) => {
      const contents =
        outputFiles.find((file) => file.path.endsWith(path))?.contents ?? new Uint8Array();
      return { path, size: gzipSync(contents, { level: 9 }).length, inputs, imports, entryPoint };
    },
  );
  type Output = (typeof outputs)[number];

  const follow = (output: Output, isLazyToo: boolean, seen = new Set<Output>()): Set<Output> => {
    seen.add(output);
    for (const { path, kind } of output.imports) {
      const next = outputs.find((other) => other.path === path);
      if (next === undefined || seen.has(next)) {
        continue;
      }
      if (isLazyToo || kind === 'import-statement') {
        follow(next, isLazyToo, seen);
      }
    }
    return seen;
  };
  const start = outputs.find(({ entryPoint }) => entryPoint === '<stdin>');
  if (start === undefined) {
    throw new Error('esbuild made no entry');
  }
  const eager = follow(start, false);
  const lazy = [...follow(start, true)].filter((output) => !eager.has(output));

  return {
    eager: sizeOf([...eager]),
    lazy: sizeOf(lazy),
    eagerFiles: filesOf([...eager]),
    lazyFiles: filesOf(lazy),
    externals: [
      ...new Set(
        outputs.flatMap(({ imports }) =>
          imports.filter((target) => target.external).map((target) => target.path),
        ),
      ),
    ],
  };
}

const sizeOf = (outputs: readonly { size: number }[]) =>
  outputs.reduce((sum, { size }) => sum + size, 0);
const filesOf = (outputs: readonly { inputs: object }[]) =>
  outputs.flatMap(({ inputs }) => Object.keys(inputs));

/** What people import. */
export const imports = {
  stack: `import ky from 'ky'; import retry from 'p-retry'; import throttle from 'p-throttle';
    import { EventEmitter } from 'eventemitter3'; console.log(ky, retry, throttle, EventEmitter);`,
  'messaging from postreel': `export { MessagingClient } from 'postreel';`,
  'messaging from its own door': `export { MessagingClient } from 'postreel/messaging';`,
  'media from its own door': `export { MediaClient } from 'postreel/media';`,
  'everything from postreel': `export * from 'postreel';`,
  'the guards alone': `export { isApiError, isPostreelError } from 'postreel';`,
  'the schemas': `export * from 'postreel/schemas';`,
} as const;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, code] of Object.entries(imports)) {
    const { eager, lazy } = await bundle(code);
    console.log(`${name.padEnd(30)}${kilobytes(eager)} at once ${kilobytes(lazy)} later`);
  }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(2).padStart(7)} KB`;
}
