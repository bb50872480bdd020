import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSources, type SourceFile } from './support/sources.js';

const sources = readSources();
const folderOf = (path: string) => path.split('/')[0] ?? '';
const isPackage = (target: string) => !/\.(tsx?|json)$/.test(target);

/** Which packages may be imported where. */
const homes: Readonly<Record<string, RegExp>> = {
  zod: /schemas?\.ts$|^schemas\/|^agents\//,
  ky: /^core\/call\/http\.ts$/,
  'p-retry': /^core\/call\/retry\.ts$/,
  'p-throttle': /^core\/wait\.ts$/,
  eventemitter3: /^core\/events\.ts$/,
  papaparse: /^messaging\/csv\.ts$/,
  msw: /^testing\//,
  react: /^tracker\/react\//,
  '@opentelemetry/api': /^otel\//,
  postreel: /^(cli|agents)\//,
  commander: /^cli\//,
  '@modelcontextprotocol/sdk': /^agents\//,
  'cli-progress': /^cli\//,
  'node:': /^(node|redis|postgres|cli|agents)\/|^testing\/server/,
};

/** Which folders each folder may import, types included. `index.ts` of `src` and each `public.ts` are doors. */
const below: Readonly<Record<string, readonly string[]>> = {
  core: [],
  journal: ['core'],
  messaging: ['core', 'journal'],
  media: ['core', 'journal'],
  webhooks: ['core'],
  schemas: ['media', 'messaging'],
  node: ['core', 'journal', 'media', 'messaging'],
  redis: ['core', 'journal'],
  postgres: ['core', 'journal'],
  otel: ['core', 'media'],
  bullmq: ['core', 'media'],
  'pg-boss': ['core', 'media'],
  tracker: ['core'], // its proxy, on a server
  testing: ['core', 'journal'],
  cli: ['core', 'media', 'messaging', 'testing'],
  agents: ['cli', 'core', 'media', 'messaging'],
};

/** The list of all commands contains `mcp`, which belongs to the agents: the one import from above. */
const listOfCommands = 'cli/commands/all.ts';

/** Is it this package, or a part of it? */
function isOf(name: string, target: string): boolean {
  return `${target}/`.startsWith(name.endsWith(':') ? name : `${name}/`);
}

/** The imports that stand where they should not, as `file -> target`. */
function forbiddenImports(isStrange: (path: string, target: string) => boolean): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => isStrange(path, target))
      .map(({ target }) => `${path} -> ${target}`),
  );
}

describe('the tree', () => {
  it.each(Object.entries(homes))('imports %s only where it belongs', (name, home) => {
    const isOfIt = (_: string, target: string) => isOf(name, target);
    expect(forbiddenImports(isOfIt)).not.toEqual([]);
    expect(forbiddenImports((path, target) => isOf(name, target) && !home.test(path))).toEqual([]);
  });

  it('imports no package that has no home', () => {
    const hasHome = (target: string) => Object.keys(homes).some((name) => isOf(name, target));
    expect(forbiddenImports((_, target) => isPackage(target) && !hasHome(target))).toEqual([]);
  });

  it('lets each folder import only what lies below it: clients, resources, core', () => {
    const above = forbiddenImports((path, target) => {
      const [from, to] = [folderOf(path), folderOf(target)];
      const isInside = path.includes('/') && !path.endsWith('public.ts') && path !== listOfCommands;
      return isInside && !isPackage(target) && from !== to && !(below[from] ?? []).includes(to);
    });
    expect(above).toEqual([]);
  });

  it('lets only the command line and the agents import the fake', () => {
    const isFake = (target: string) => /^testing\/|^postreel\/testing/.test(target);
    const isOwn = (path: string) => /^(testing|cli|agents)\//.test(path);
    expect(forbiddenImports((path, target) => isFake(target) && !isOwn(path))).toEqual([]);
  });

  it('keeps resources apart from each other', () => {
    // `contacts.ts`, `contacts.types.ts` and what stands in `contacts/` are one.
    const resources = sources.flatMap(
      ({ path }) => /^messaging\/(\w+)\.schemas\.ts$/.exec(path)?.[1] ?? [],
    );
    const resourceOf = (path: string) => {
      const name = /^messaging\/(\w+)[./]/.exec(path)?.[1] ?? '';
      return resources.includes(name) ? name : undefined;
    };
    expect(resources).toHaveLength(15);
    const crossings = forbiddenImports((path, target) => {
      const [own, other] = [resourceOf(path), resourceOf(target)];
      return own !== undefined && other !== undefined && own !== other;
    });
    expect(crossings).toEqual([]);
  });

  it('reaches schemas only lazily', () => {
    const isSchema = (path: string) => /schemas?\.ts$|^schemas\//.test(path);
    const eager = sources
      .filter(({ path }) => !isSchema(path))
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ target, isLazy, isType }) => isSchema(target) && !isLazy && !isType)
          .map(({ target }) => `${path} -> ${target}`),
      );
    expect(eager).toEqual([]);
  });

  it('has no circular imports, types included', () => {
    expect(circlesIn(sources)).toEqual([]);
    const imports = (target: string) => [{ target, isType: true, isLazy: false }];
    const files = ['a', 'b', 'c'].map((path, index) => ({ path, imports: imports('bca'[index]!) }));
    expect(circlesIn(files)).toEqual(['a b c']);
  });

  it('imports no door from inside, and only files that exist', () => {
    const isDoor = (path: string) => /(^|\/)(index|public)\.ts$/.test(path);
    expect(forbiddenImports((path, target) => isDoor(target) && !isDoor(path))).toEqual([]);
    const isMissing = (target: string) => !isPackage(target) && !existsSync(`src/${target}`);
    expect(forbiddenImports((_, target) => isMissing(target))).toEqual([]);
  });

  it('names files after what they hold', () => {
    const vague = sources.filter(({ path }) => /(utils?|helpers?|common|misc)\.ts$/.test(path));
    expect(vague.map(({ path }) => path)).toEqual([]);
  });

  it('has every file that CONTRIBUTING.md names', () => {
    const text = readFileSync('CONTRIBUTING.md', 'utf8');
    const [, section = ''] = /## Where things are\n(.*?)\n## /s.exec(text) ?? [];
    const named = [...section.matchAll(/`(src\/[^`<]+)`/g)].map(([, path = '']) => path);
    expect(named).not.toEqual([]);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});

/** The groups of files that import each other, directly or through others (Tarjan). Types and `import()` count. */
function circlesIn(files: readonly SourceFile[]): string[] {
  const graph = new Map(
    files.map(({ path, imports }) => [path, imports.map(({ target }) => target)]),
  );
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[] = [];
  const visit = (path: string): number => {
    order.set(path, order.size);
    lowest.set(path, order.get(path)!);
    stack.push(path);
    for (const next of graph.get(path) ?? []) {
      if (!graph.has(next)) {
        continue;
      }
      const reached = order.has(next) ? order.get(next)! : visit(next);
      if (stack.includes(next)) {
        lowest.set(path, Math.min(lowest.get(path)!, reached, lowest.get(next)!));
      }
    }
    if (lowest.get(path) === order.get(path)) {
      const group = stack.splice(stack.indexOf(path));
      if (group.length > 1) {
        circles.push(group.sort().join(' '));
      }
    }
    return lowest.get(path)!;
  };
  for (const path of graph.keys()) {
    if (!order.has(path)) {
      visit(path);
    }
  }
  return circles.sort();
}
