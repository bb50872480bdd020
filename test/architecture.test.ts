import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSources, type SourceFile } from './support/sources.js';

const sources = readSources();
const isPackage = (target: string) => !/\.(tsx?|json)$/.test(target);

/** Which packages may be imported where. */
const homes: Readonly<Record<string, RegExp>> = {
  'zod/mini': /schema(s)?\.ts$|^schemas\//,
  ky: /^transport\/send\/http\.ts$/,
  'p-retry': /^transport\/send\/retry\.ts$/,
  'p-throttle': /^polling\/spacing\.ts$/,
  eventemitter3: /^transport\/events\.ts$/,
  msw: /^testing\//,
  react: /^tracker\/react\//,
  ioredis: /^redis\//,
  '@opentelemetry/api': /^otel\//,
};
const nodeHomes = /^(node|redis|cli)\/|^testing\/server/;

/** Which folder may import which; type imports are free within `src`, but see the resources. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  async: ['async'],
  contract: ['contract', 'errors'],
  errors: ['errors'],
  transport: ['transport', 'async', 'contract', 'errors', 'pagination'],
  pagination: ['pagination', 'contract', 'errors'],
  polling: ['polling', 'async', 'contract', 'errors', 'transport'],
  tracker: ['tracker'],
  webhooks: ['webhooks', 'async', 'contract', 'errors'],
  testing: ['testing'],
};

describe('architecture', () => {
  it.each(Object.entries(homes))('imports %s only where it belongs', (name, home) => {
    const strangers = sources.filter(
      ({ path, imports }) => imports.some(({ target }) => target === name) && !home.test(path),
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
    const unknown = names.filter((name) => !(name in homes) && !name.startsWith('node:'));
    expect(new Set(unknown)).toEqual(new Set(unknown.filter((name) => /^(msw|react)/.test(name))));
  });

  it.each(Object.entries(allowed))('lets %s import only what lies below it', (folder, below) => {
    const strangers = sources
      .filter(({ path }) => path.startsWith(`${folder}/`))
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ target, isType }) => !isPackage(target) && !isType)
          .filter(({ target }) => !below.includes(target.split('/')[0] ?? ''))
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

  it('has no cycles', () => {
    expect(findCycle(sources)).toBeUndefined();
  });

  it('imports only files that exist', () => {
    const missing = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => !isPackage(target) && !existsSync(`src/${target}`))
        .map(({ target }) => `${path} -> ${target}`),
    );
    expect(missing).toEqual([]);
  });

  it('keeps files short', () => {
    const limit = (path: string) => (/(types|schemas|state)\.ts$/.test(path) ? 400 : 300);
    const long = sources.filter(({ path, lines }) => lines > limit(path));
    expect(long.map(({ path, lines }) => `${path}: ${lines} lines`)).toEqual([]);
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

function findCycle(files: readonly SourceFile[]): string[] | undefined {
  const graph = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter(({ isType, isLazy }) => !isType && !isLazy).map(({ target }) => target),
    ]),
  );
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): string[] | undefined => {
    if (trail.includes(path)) {
      return [...trail.slice(trail.indexOf(path)), path];
    }
    if (done.has(path)) {
      return undefined;
    }
    for (const next of graph.get(path) ?? []) {
      const cycle = visit(next, [...trail, path]);
      if (cycle) {
        return cycle;
      }
    }
    done.add(path);
    return undefined;
  };
  for (const path of graph.keys()) {
    const cycle = visit(path, []);
    if (cycle) {
      return cycle;
    }
  }
  return undefined;
}
