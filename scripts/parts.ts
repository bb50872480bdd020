import { dirname, relative } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

/**
 * Cuts the modules of `src` into the files of the package, by hand instead of by esbuild's splitting,
 * which makes a file for each combination of doors that share a module.
 *
 * A module that one door or one lazy import needs goes into that one's own file. What several need
 * goes into a part named after its folder, and a second one, `…-later`, holds what the front door
 * does not load at once.
 */
export interface Parts {
  /** The file of a module, without extension: `src/errors/brand.ts` is in `parts/errors`. */
  readonly fileOf: ReadonlyMap<string, string>;
  /** What esbuild starts from: a door's module, or a part. */
  readonly entryPoints: { in: string; out: string }[];
  readonly plugin: Plugin;
}

/** Folders that are small and always loaded together. */
const rooms: Readonly<Record<string, string>> = {
  async: 'base',
  contract: 'base',
  errors: 'base',
  pagination: 'transport',
  polling: 'transport',
};

const roomsOfFiles: Readonly<Record<string, string>> = {
  // Needed by the schemas, which need nothing else of the transport.
  'src/transport/validation/nearest.ts': 'base',
  'src/transport/validation/unknown-fields.ts': 'base',
  // A messaging client needs them with its first wait, a media client at once.
  'src/async/wait-queue.ts': 'waits',
  'src/errors/wait-errors.ts': 'waits',
  'src/errors/webhook-error.ts': 'waits',
};

export async function cutIntoParts(doors: Readonly<Record<string, string>>): Promise<Parts> {
  const { inputs, outputs } = await modulesOf(Object.values(doors));
  const names = namesOf(inputs, doors);
  const reached = reachedBy(inputs, [...names.keys()]);
  const isAtOnce = (path: string) => reached.get(path)?.has(doors['index'] ?? '') === true;
  const roomsAtOnce = new Set(Object.keys(inputs).filter(isAtOnce).map(roomOf));

  const fileOf = new Map<string, string>();
  for (const path of Object.keys(inputs)) {
    const [only = '', ...others] = reached.get(path) ?? [];
    const room = roomOf(path);
    const isLater = roomsAtOnce.has(room) && !isAtOnce(path);
    const shared = `parts/${room}${isLater ? '-later' : ''}`;
    fileOf.set(path, others.length > 0 ? shared : (names.get(only) ?? shared));
  }
  const shared = sharedModules(inputs, fileOf);
  await refuseSameNames(shared);
  const exportsOf = exportsOfEntries(outputs);
  const contentsOf = (file: string) =>
    doors[file] === undefined
      ? partOf(file, shared)
      : linkTo(doors[file], exportsOf.get(doors[file]) ?? []);
  return {
    fileOf,
    entryPoints: entryPointsOf(fileOf, names),
    plugin: cutting(inputs, fileOf, contentsOf),
  };
}

/** The modules that the package needs, without types. */
async function modulesOf(entryPoints: string[]): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints,
    bundle: true,
    write: false,
    metafile: true,
    packages: 'external',
    format: 'esm',
    outdir: 'nowhere',
    logLevel: 'error',
  });
  return metafile;
}

type Inputs = Metafile['inputs'];

const exportsOfEntries = (outputs: Metafile['outputs']) =>
  new Map(Object.values(outputs).map(({ entryPoint = '', exports }) => [entryPoint, exports]));

/** `export *` drops a name in silence that two modules of a part have. */
async function refuseSameNames(shared: ReadonlyMap<string, string>): Promise<void> {
  const { metafile } = await build({
    entryPoints: [...shared.keys()].filter((path) => !/\.json$|\/index\.tsx?$/.test(path)),
    write: false,
    metafile: true,
    format: 'esm',
    outdir: 'nowhere',
  });
  const homes = new Map<string, string>();
  for (const [path, names] of exportsOfEntries(metafile.outputs)) {
    for (const name of names) {
      const key = `${shared.get(path) ?? ''} ${name}`;
      const other = homes.get(key);
      if (other !== undefined) {
        throw new Error(`${other} and ${path} both export ${name} to other parts: rename one.`);
      }
      homes.set(key, path);
    }
  }
}

/** The doors and the targets of lazy imports, with the names of their files. */
function namesOf(inputs: Inputs, doors: Readonly<Record<string, string>>): Map<string, string> {
  const names = new Map<string, string>();
  for (const { imports } of Object.values(inputs)) {
    for (const { kind, path, external } of imports) {
      if (kind === 'dynamic-import' && !external) {
        names.set(path, `parts/${path.replace(/^src\/|\.tsx?$/g, '').replaceAll('/', '-')}`);
      }
    }
  }
  for (const [name, path] of Object.entries(doors)) {
    names.set(path, name);
  }
  return names;
}

/** For each module the roots that load it together with themselves. */
function reachedBy(inputs: Inputs, roots: readonly string[]): Map<string, Set<string>> {
  const reached = new Map<string, Set<string>>();
  const visit = (path: string, root: string): void => {
    const known = reached.get(path) ?? new Set<string>();
    if (known.has(root)) {
      return;
    }
    reached.set(path, known.add(root));
    for (const { kind, path: next, external } of inputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && !external) {
        visit(next, root);
      }
    }
  };
  for (const root of roots) {
    visit(root, root);
  }
  return reached;
}

function roomOf(path: string): string {
  const [folder = ''] = path.replace('src/', '').split('/');
  if (path in roomsOfFiles) {
    return roomsOfFiles[path] ?? folder;
  }
  // What checks go into files of their own: the schemas need them without a client.
  const [, what] = /^src\/(?:messaging|media)\/.*(schema|warning)s?\.ts$/.exec(path) ?? [];
  return what === undefined ? (rooms[folder] ?? folder) : `${folder}-${what}s`;
}

const virtual = 'part';

function entryPointsOf(
  fileOf: ReadonlyMap<string, string>,
  names: ReadonlyMap<string, string>,
): { in: string; out: string }[] {
  const files = new Set([...fileOf.values(), ...names.values()]);
  const own = new Map([...names].filter(([path, name]) => fileOf.get(path) === name));
  const start = new Map([...own].map(([path, name]) => [name, path]));
  return [...files].map((out) => ({ in: start.get(out) ?? `${virtual}:${out}`, out }));
}

/** Leaves imports between two files of the package as imports, and fills the parts. */
function cutting(
  inputs: Inputs,
  fileOf: ReadonlyMap<string, string>,
  contentsOf: (file: string) => string,
): Plugin {
  const setup: Plugin['setup'] = (builder) => {
    builder.onResolve({ filter: new RegExp(`^${virtual}:`) }, ({ path }) => ({
      path: path.slice(virtual.length + 1),
      namespace: virtual,
    }));
    builder.onLoad({ filter: /.*/, namespace: virtual }, ({ path }) => ({
      contents: contentsOf(path),
      resolveDir: process.cwd(),
      loader: 'js',
    }));
    builder.onResolve({ filter: /^\.\.?\// }, ({ path, importer, namespace }) => {
      const own = relative(process.cwd(), importer);
      const imported = inputs[own]?.imports.find(({ original }) => original === path)?.path;
      const from = namespace === virtual ? importer : fileOf.get(own);
      const to = fileOf.get(namespace === virtual ? path.slice(2) : (imported ?? ''));
      if (from === undefined || to === undefined || from === to) {
        return undefined;
      }
      const link = relative(dirname(from), to);
      return { path: `${link.startsWith('.') ? link : `./${link}`}.js`, external: true };
    });
  };
  return { name: 'parts', setup };
}

/** A door whose module stands in a part, because another door hands it on as well. */
function linkTo(path: string, names: readonly string[]): string {
  return `export { ${names.join(', ')} } from './${path}';`;
}

/** The modules that other files import from, each with its own file. */
function sharedModules(inputs: Inputs, fileOf: ReadonlyMap<string, string>): Map<string, string> {
  const imports = Object.entries(inputs).flatMap(([from, module]) =>
    module.imports.map(({ path }) => ({ path, from: fileOf.get(from), to: fileOf.get(path) })),
  );
  const crossing = imports.filter(({ from, to }) => to !== undefined && from !== to);
  return new Map(crossing.map(({ path, to = '' }) => [path, to]));
}

/** A part hands on what other files import from its modules. */
function partOf(part: string, shared: ReadonlyMap<string, string>): string {
  const modules = [...shared].filter(([, file]) => file === part);
  return modules.map(([path]) => `export * from './${path}';\n`).join('');
}
