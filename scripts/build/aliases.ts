import { build } from 'esbuild';

/** By module: what each name of it is called in the file that has it. */
export type Aliases = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * Modules of one part may have names in common, such as `routes`, which `export *` would drop in
 * silence: such a module hands its names on as `messaging_contacts_routes`, and JSON its only one.
 */
export async function aliasesOf(shared: ReadonlyMap<string, string>): Promise<Aliases> {
  const paths = [...shared.keys()].filter((path) => !/\/index\.tsx?$/.test(path));
  const namesOf = await exportedNames(paths);
  const homes = new Map<string, number>();
  const keyOf = (path: string, name: string) => `${shared.get(path) ?? ''} ${name}`;
  for (const [path, names] of namesOf) {
    for (const name of names) {
      homes.set(keyOf(path, name), (homes.get(keyOf(path, name)) ?? 0) + 1);
    }
  }
  const isTaken = (path: string, name: string) =>
    name === 'default' || (homes.get(keyOf(path, name)) ?? 0) > 1;
  const twice = [...namesOf].filter(([path, names]) => names.some((name) => isTaken(path, name)));
  return new Map(
    twice.map(([path, names]) => [
      path,
      new Map(names.map((name) => [name, isTaken(path, name) ? `${wordOf(path)}_${name}` : name])),
    ]),
  );
}

/** What each module exports by name. */
export async function exportedNames(
  paths: readonly string[],
): Promise<Map<string, readonly string[]>> {
  const { metafile } = await build({
    entryPoints: [...paths],
    write: false,
    metafile: true,
    format: 'esm',
    outdir: 'nowhere',
  });
  const outputs = Object.values(metafile.outputs);
  return new Map(
    outputs.map(({ entryPoint = '', exports }) => [
      entryPoint,
      // esbuild knows the keys of JSON as well, but nobody imports those.
      entryPoint.endsWith('.json') ? ['default'] : exports,
    ]),
  );
}

/** `src/messaging/contacts/routes.ts` is `messaging_contacts_routes`. */
function wordOf(path: string): string {
  return path.replace(/^src\/|\.tsx?$/g, '').replace(/\W/g, '_');
}

/** `a, own as alias`: how a part hands a module on. */
export function handedOn(names: ReadonlyMap<string, string>): string {
  return [...names].map(([name, alias]) => `${name} as ${alias}`).join(', ');
}

/** `a, alias as own`: how another file takes it. */
export function taken(names: ReadonlyMap<string, string>): string {
  return [...names].map(([name, alias]) => `${alias} as ${name}`).join(', ');
}
