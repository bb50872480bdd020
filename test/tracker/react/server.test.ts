import { readFileSync } from 'node:fs';
import { type Plugin, build } from 'esbuild';
import { describe, expect, it } from 'vitest';

/** Mimics a bundler's handling of a module marked for the client: its exports become references. */
const clientReferences: Plugin = {
  name: 'client-references',
  setup: (bundler) => {
    bundler.onLoad({ filter: /dist.esm.tracker.react.index\.js$/ }, ({ path }) => {
      const isMarked = /^("use strict";)?['"]use client['"]/.test(readFileSync(path, 'utf8'));
      return isMarked
        ? { contents: `export const TrackerProvider = 'client:TrackerProvider';` }
        : null;
    });
  },
};

/** Bundles a server component as a framework does, and runs its export `render`. */
async function renderOnServer(contents: string): Promise<{ output: unknown; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, loader: 'ts', resolveDir: process.cwd() },
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    conditions: ['react-server'],
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire('${import.meta.url}');`,
    },
    plugins: [clientReferences],
  });
  const url = `data:text/javascript,${encodeURIComponent(outputFiles[0]!.text)}`;
  const { render } = (await import(/* @vite-ignore */ url)) as { render: () => unknown };
  return { output: render(), inputs: Object.keys(metafile.inputs) };
}

describe('a server component', () => {
  it('imports types without any code', async () => {
    const { output, inputs } = await renderOnServer(`
      import type { Tracker } from './dist/esm/tracker/index.js';
      import type { TrackerProviderProps } from './dist/esm/tracker/react/index.js';
      const nameOf = (props: Pick<TrackerProviderProps, 'children'>, tracker?: Tracker) =>
        tracker ? '' : String(props.children);
      export const render = () => nameOf({ children: 'shop' });`);
    expect(output).toBe('shop');
    expect(inputs.filter((path) => path.includes('tracker'))).toEqual([]);
  });
  it('renders the provider, whose code stays on the client', async () => {
    const { output, inputs } = await renderOnServer(`
      import { createElement } from 'react';
      import { TrackerProvider } from './dist/esm/tracker/react/index.js';
      export const render = () => createElement(TrackerProvider, { tracker: undefined }).type;`);
    expect(output).toBe('client:TrackerProvider');
    expect(inputs.some((path) => path.includes('react.react-server'))).toBe(true);
  });
});
