import { build, type Metafile, type Plugin } from 'esbuild';
import { aliasesOf, exportedNames, handedOn, type Aliases } from './build/aliases.js';
import { takenBy } from './build/command-links.js';
import { cutting, linking } from './build/links.js';
import { cutLongParts } from './build/long-parts.js';

/**
 * Cuts the modules of `src` into the files of the package, by hand instead of by esbuild's splitting,
 * which makes a file for each combination of doors that share a module.
 *
 * A module that one door or one lazy import needs goes into that one's own file. What several need
 * goes into a part named after its folder, and a second one, `…-later`, holds what the front door
 * does not load at once. A part that grows too long goes on in a further file.
 */
export interface Parts {
  /** The file of a module, without extension: `src/errors/brand.ts` is in `parts/errors`. */
  readonly fileOf: ReadonlyMap<string, string>;
  /** What esbuild starts from: a door's module, or a part. */
  readonly entryPoints: { in: string; out: string }[];
  readonly plugin: Plugin;
  /** For the command, a bundle beside the library: what it takes from the parts stays an import. */
  readonly commandPlugin: Plugin;
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
  // A messaging client needs them with its first wait, a media client at once.
  'src/async/wait-queue.ts': 'waits',
  'src/errors/wait-errors.ts': 'waits',
  'src/errors/webhook-error.ts': 'waits',
};

export async function cutIntoParts(
  doors: Readonly<Record<string, string>>,
  command: string,
): Promise<Parts> {
  const { inputs, outputs } = await modulesOf(Object.values(doors));
  const names = namesOf(inputs, doors);
  const reached = reachedBy(inputs, [...names.keys()]);
  const front = doors['index'] ?? '';
  const isAtOnce = (path: string) => reached.get(path)?.has(front) === true;
  const roomsAtOnce = new Set(Object.keys(inputs).filter(isAtOnce).map(roomOf));

  const fileOf = new Map<string, string>();
  for (const path of Object.keys(inputs)) {
    const [only = '', ...others] = reached.get(path) ?? [];
    const room = roomOf(path);
    const isLater = roomsAtOnce.has(room) && !isAtOnce(path);
    const shared = `parts/${room}${isLater ? '-later' : ''}`;
    fileOf.set(path, others.length > 0 ? shared : (names.get(only) ?? shared));
  }
  const frontLinks = frontLinksOf(inputs[front]?.imports ?? [], fileOf, names);
  const ownFiles = new Set(names.values());
  const own = [...names].filter(([path, name]) => fileOf.get(path) === name);
  const rootOf = new Map(own.map(([path, name]) => [name, path]));
  cutLongParts({ inputs, outputs }, fileOf, rootOf);
  const isHandedOn = (path: string) => {
    const file = fileOf.get(path) ?? '';
    return ownFiles.has(file) ? names.get(path) === file : file !== '';
  };
  const ofCommand = await modulesOf([command]);
  const taken = takenBy(command, ofCommand.inputs, isHandedOn);
  const shared = sharedModules(inputs, fileOf);
  for (const path of taken) {
    shared.set(path, fileOf.get(path) ?? '');
  }
  const files = { fileOf, aliases: await aliasesOf(shared) };
  const exportsOf = new Map([
    ...(await exportedNames([...frontLinks.keys()])),
    ...exportsOfEntries(outputs),
  ]);
  const contentsOf = (file: string) => {
    const linked = [...frontLinks].filter(([, link]) => link === file).map(([path]) => path);
    const targets = doors[file] === undefined ? linked : [doors[file]];
    return targets.length === 0
      ? partOf(file, shared, files.aliases)
      : targets.map((path) => linkTo(path, exportsOf.get(path) ?? [])).join('\n');
  };
  const linkOf = (from: string, path: string) =>
    from === front ? frontLinks.get(path) : undefined;
  return {
    fileOf,
    entryPoints: entryPointsOf(fileOf, names, frontLinks),
    plugin: cutting(inputs, files, contentsOf, linkOf),
    commandPlugin: linking(ofCommand.inputs, files, (path) => taken.has(path)),
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

function entryPointsOf(
  fileOf: ReadonlyMap<string, string>,
  names: ReadonlyMap<string, string>,
  frontLinks: ReadonlyMap<string, string>,
): { in: string; out: string }[] {
  const files = new Set([...fileOf.values(), ...names.values(), ...frontLinks.values()]);
  const own = new Map([...names].filter(([path, name]) => fileOf.get(path) === name));
  const start = new Map([...own].map(([path, name]) => [name, path]));
  return [...files].map((out) => ({ in: start.get(out) ?? `part:${out}`, out }));
}

/**
 * What the front door hands on, with a file for each part that only names it. A bundler which splits
 * code keeps every part that a module with the wanted name imports, used or not: so the front door
 * imports nothing itself, and `export * from` leads to a file with one import.
 */
function frontLinksOf(
  handedOn: Inputs[string]['imports'],
  fileOf: ReadonlyMap<string, string>,
  names: ReadonlyMap<string, string>,
): Map<string, string> {
  const own = handedOn.filter(({ external }) => external !== true).map(({ path }) => path);
  return new Map(own.map((path) => [path, names.get(path) ?? `${fileOf.get(path) ?? ''}-names`]));
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
function partOf(part: string, shared: ReadonlyMap<string, string>, aliases: Aliases): string {
  const modules = [...shared.keys()].filter((path) => shared.get(path) === part);
  const lines = modules.map((path) => {
    const names = aliases.get(path);
    const list = names === undefined ? '*' : `{ ${handedOn(names)} }`;
    // With the attribute that the sources write: without it, it would be a second module.
    const attribute = path.endsWith('.json') ? ` with { type: 'json' }` : '';
    return `export ${list} from './${path}'${attribute};\n`;
  });
  return lines.join('');
}
