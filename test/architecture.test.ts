import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSources, type SourceFile } from './support/sources.js';

const sources = readSources();
const isPackage = (target: string) => !/\.(tsx?|json)$/.test(target);

/** Which packages may be imported where. */
const homes: Readonly<Record<string, RegExp>> = {
  'zod/mini': /schema(s)?\.ts$|^schemas\/|^cli\/mcp\//,
  ky: /^transport\/send\/http\.ts$/,
  'p-retry': /^transport\/send\/retry\.ts$/,
  'p-throttle': /^polling\/spacing\.ts$/,
  papaparse: /^messaging\/contacts\//,
  eventemitter3: /^transport\/events\.ts$/,
  msw: /^testing\//,
  react: /^tracker\/react\//,
  ioredis: /^redis\//,
  bullmq: /^bullmq\//,
  '@opentelemetry/api': /^otel\//,
  postreel: /^cli\//,
  commander: /^cli\//,
  '@modelcontextprotocol/sdk': /^cli\/mcp\//,
  'cli-progress': /^cli\/terminal\/progress\.ts$/,
};
const nodeHomes = /^(node|redis|postgres|cli)\/|^testing\/server/;

/** Which folder may import which, types included. What stands in `src` itself is the door. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  async: [],
  http: [],
  errors: [],
  contract: ['errors'],
  journal: ['async', 'contract', 'errors'],
  pagination: ['contract', 'errors'],
  transport: ['async', 'contract', 'errors', 'http', 'pagination'],
  polling: ['async', 'contract', 'errors', 'transport'],
  messaging: ['async', 'contract', 'errors', 'journal', 'pagination', 'polling', 'transport'],
  media: ['async', 'contract', 'errors', 'journal', 'pagination', 'polling', 'transport'],
  schemas: ['media', 'messaging'],
  workflows: ['messaging'],
  webhooks: ['async', 'contract', 'errors'],
  node: ['async', 'contract', 'errors', 'journal', 'media', 'messaging'],
  redis: ['async', 'contract', 'errors', 'journal', 'transport'],
  postgres: ['async', 'contract', 'errors', 'journal', 'transport'],
  otel: ['async', 'contract', 'errors', 'media'],
  'pg-boss': ['contract', 'errors', 'media'],
  bullmq: ['contract', 'errors', 'media'],
  tracker: ['http'], // its proxy, on a server
  testing: ['contract', 'journal'], // options are read as everywhere; stores of users are tested
  cli: ['contract', 'messaging', 'testing'],
};

describe('architecture', () => {
  it.each(Object.entries(homes))('imports %s only where it belongs', (name, home) => {
    const strangers = sources.filter(
      ({ path, imports }) =>
        imports.some(({ target }) => `${target}/`.startsWith(`${name}/`)) && !home.test(path),
    );
    expect(strangers.map(({ path }) => path)).toEqual([]);
  });

  it('imports node: modules only where Node is certain', () => {
    const strangers = sources.filter(
      ({ path, imports }) =>
        imports.some(({ target }) => target.startsWith('node:')) && !nodeHomes.test(path),
    );
    expect(strangers.map(({ path }) => path)).toEqual([]);
  });

  it('knows every package it imports', () => {
    const names = sources.flatMap(({ imports }) =>
      imports.map(({ target }) => target).filter(isPackage),
    );
    const isKnown = (name: string) =>
      name in homes || /^(node:|postreel\/|@modelcontextprotocol\/sdk\/)/.test(name);
    const unknown = names.filter((name) => !isKnown(name));
    expect(new Set(unknown)).toEqual(new Set(unknown.filter((name) => /^(msw|react)/.test(name))));
  });

  it.each(Object.entries(allowed))('lets %s import only what lies below it', (folder, below) => {
    const strangers = sources
      .filter(({ path }) => path.startsWith(`${folder}/`))
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ target }) => !isPackage(target))
          .filter(({ target }) => ![folder, ...below].includes(target.split('/')[0] ?? ''))
          .map(({ target }) => `${path} -> ${target}`),
      );
    expect(strangers).toEqual([]);
  });

  it('keeps resources apart from each other', () => {
    const resourceOf = (path: string) => /^messaging\/(?!shared\/)([^/]+)\//.exec(path)?.[1];
    const crossings = sources.flatMap(({ path, imports }) => {
      const own = resourceOf(path);
      if (own === undefined) {
        return [];
      }
      return imports
        .filter(({ target }) => ![own, undefined].includes(resourceOf(target)))
        .map(({ target }) => `${path} -> ${target}`);
    });
    expect(crossings).toEqual([]);
  });

  it('lets nobody import the fake', () => {
    const users = sources.filter(
      ({ path, imports }) =>
        !/^(testing|cli)\//.test(path) &&
        imports.some(({ target }) => target.startsWith('testing/')),
    );
    expect(users.map(({ path }) => path)).toEqual([]);
  });

  it('reaches schemas only lazily', () => {
    const eager = sources
      .filter(({ path }) => !/schema(s)?\.ts$|^schemas\//.test(path))
      .flatMap(({ path, imports }) =>
        imports
          .filter(
            ({ target, isLazy, isType }) => /schemas?\.ts$/.test(target) && !isLazy && !isType,
          )
          .filter(({ target }) => !target.startsWith('contract/'))
          .map(({ target }) => `${path} -> ${target}`),
      );
    expect(eager).toEqual([]);
  });

  it('imports no index.ts from inside', () => {
    const isDoor = (path: string) => path.endsWith('index.ts');
    const users = sources
      .filter(({ path }) => !isDoor(path))
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ target }) => isDoor(target) && target !== 'errors/index.ts')
          .map(({ target }) => `${path} -> ${target}`),
      );
    expect(users).toEqual([]);
  });

  it('has a rule for each folder', () => {
    const folders = sources.map(({ path }) => path.split('/')).filter(({ length }) => length > 1);
    expect(new Set(folders.map(([folder]) => folder))).toEqual(new Set(Object.keys(allowed)));
  });

  it('has no cycles, types and lazy imports included', () => {
    expect(cyclesOf(sources)).toEqual([]);
  });

  it('imports only files that exist', () => {
    const missing = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => !isPackage(target) && !existsSync(`src/${target}`))
        .map(({ target }) => `${path} -> ${target}`),
    );
    expect(missing).toEqual([]);
  });

  it('has every file that CONTRIBUTING names', () => {
    const text = readFileSync('CONTRIBUTING.md', 'utf8');
    const [, table = ''] = /## Where things are\n(.*?)\n## /s.exec(text) ?? [];
    const rows = table.split('\n').filter((line) => line.startsWith('| '));
    const named = rows.flatMap((row) => {
      // A second name in a row is beside the first.
      const [first = '', ...others] = [...row.matchAll(/`([\w./<>-]+(?:\.ts|\/))`/g)].map(
        ([, name = '']) => name,
      );
      const start = first.startsWith('src/') ? first : `src/transport/${first}`;
      const beside = others.map((name) => [`${dirname(start)}/${name}`, `src/transport/${name}`]);
      return first === '' || first.includes('<') ? [] : [[start], ...beside];
    });
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((places) => !places.some((place) => existsSync(place)))).toEqual([]);
  });

  it('names files after what they hold', () => {
    const vague = sources.filter(({ path }) => /(utils?|helpers?|common|misc)\.ts$/.test(path));
    expect(vague.map(({ path }) => path)).toEqual([]);
  });

  it('gives each resource the same four files', () => {
    const resources = new Set(
      sources.map(
        ({ path }) => /^(messaging\/(?!shared\/)[^/]+|media\/generate)\//.exec(path)?.[1],
      ),
    );
    resources.delete(undefined);
    for (const folder of resources) {
      for (const file of ['routes', 'types', 'schemas', 'resource']) {
        expect(existsSync(`src/${folder ?? ''}/${file}.ts`), `${folder ?? ''}/${file}.ts`).toBe(
          true,
        );
      }
    }
  });
});

/** The groups of files that reach each other, by imports of any kind (Tarjan). */
function cyclesOf(files: readonly SourceFile[]): string[] {
  const graph = new Map(
    files.map(({ path, imports }) => [path, imports.map(({ target }) => target)]),
  );
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[] = [];
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
        cycles.push(group.sort().join(' '));
      }
    }
    return lowest.get(path)!;
  };
  for (const path of graph.keys()) {
    if (!order.has(path)) {
      visit(path);
    }
  }
  return cycles.sort();
}
