import { dirname, relative } from 'node:path';
import type { Metafile, OnResolveResult, Plugin, PluginBuild } from 'esbuild';
import { taken, type Aliases } from './aliases.js';

/** Which module is in which file, and what its names are called there. */
export interface Files {
  readonly fileOf: ReadonlyMap<string, string>;
  readonly aliases: Aliases;
}

const virtual = 'part';
const renamed = 'renamed';

/** Leaves imports between two files of the package as imports, and fills the parts. */
export function cutting(
  inputs: Metafile['inputs'],
  { fileOf, aliases }: Files,
  contentsOf: (file: string) => string,
  /** The file by which one module takes another, where it is not the one that has it. */
  linkOf: (from: string, module: string) => string | undefined,
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
    const link = linkWith(builder, aliases);
    builder.onResolve({ filter: /^\.\.?\// }, ({ path, importer, namespace }) => {
      const own = relative(process.cwd(), importer);
      const imported = inputs[own]?.imports.find(({ original }) => original === path)?.path;
      const module = namespace === virtual ? path.slice(2) : (imported ?? '');
      const from = namespace === virtual ? importer : fileOf.get(own);
      const to = linkOf(own, module) ?? fileOf.get(module);
      return from === undefined || to === undefined || from === to
        ? undefined
        : link(module, fromFile(from, to));
    });
  };
  return { name: 'parts', setup };
}

/** For the command: what it takes from the library stays an import of the ES modules. */
export function linking(
  inputs: Metafile['inputs'],
  { fileOf, aliases }: Files,
  isTaken: (path: string) => boolean,
): Plugin {
  const setup: Plugin['setup'] = (builder) => {
    const link = linkWith(builder, aliases);
    builder.onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
      const own = inputs[relative(process.cwd(), importer)];
      const module = own?.imports.find(({ original }) => original === path)?.path ?? '';
      return isTaken(module) ? link(module, `./esm/${fileOf.get(module) ?? ''}.js`) : undefined;
    });
  };
  return { name: 'command-links', setup };
}

/** Names an import of another file; names that are called something else there come back here. */
function linkWith(builder: PluginBuild, aliases: Aliases) {
  builder.onResolve({ filter: /.*/, namespace: renamed }, ({ path }) => ({ path, external: true }));
  builder.onLoad({ filter: /.*/, namespace: renamed }, ({ path, pluginData }) => ({
    contents: `export { ${taken(aliases.get(path.slice(path.indexOf(' ') + 1)) ?? new Map())} } from '${String(pluginData)}';`,
  }));
  return (module: string, link: string): OnResolveResult =>
    aliases.has(module)
      ? { path: `${link} ${module}`, namespace: renamed, pluginData: link }
      : { path: link, external: true };
}

function fromFile(from: string, to: string): string {
  const link = relative(dirname(from), to);
  return `${link.startsWith('.') ? link : `./${link}`}.js`;
}
