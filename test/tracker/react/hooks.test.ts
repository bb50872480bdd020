import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it, vi } from 'vitest';
import { createTracker } from 'postreel/tracker';
import {
  TrackerProvider,
  createTrackerHooks,
  useTrackOnMount,
  useTracker,
} from 'postreel/tracker/react';

const tracker = createTracker({ publicKey: 'pk_test', baseUrl: 'https://service.test' });

// The tests in the browser show what the hooks do in a page, also under StrictMode.
describe('React on a server', () => {
  it('renders without tracking', () => {
    const dropped: unknown[] = [];
    tracker.on('dropped', (detail) => dropped.push(detail));
    const Page = () => {
      useTrackOnMount('viewed', { page: '/' });
      return createElement('p', null, String(useTracker() === tracker));
    };
    const html = renderToString(createElement(TrackerProvider, { tracker }, createElement(Page)));
    expect([html, dropped]).toEqual(['<p>true</p>', []]);
  });
  it('logs one error if the provider is missing, and renders', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    const outcomes: unknown[] = [];
    const Page = () => {
      outcomes.push(useTracker().track('x').outcome);
      return createElement('p');
    };
    const renders = [renderToString(createElement(Page)), renderToString(createElement(Page))];
    expect(renders).toEqual(['<p></p>', '<p></p>']);
    expect(error.mock.calls).toEqual([['useTracker() needs a TrackerProvider above it.']]);
    expect(await Promise.all(outcomes)).toEqual([{ status: 'dropped' }, { status: 'dropped' }]);
    error.mockRestore();
  });
  it('finds a provider that another copy of the module rendered', () => {
    // A provider in ESM and a hook in CommonJS.
    const path = resolve('dist/cjs/tracker/react/index.js');
    const copy = createRequire(import.meta.url)(path) as { useTracker: typeof useTracker };
    expect(copy.useTracker).not.toBe(useTracker);
    const Page = () => createElement('p', null, String(copy.useTracker() === tracker));
    const root = createElement(TrackerProvider, { tracker }, createElement(Page));
    expect(renderToString(root)).toBe('<p>true</p>');
  });
  it('is marked for the client, so that server components can import it', () => {
    expect(readFileSync('dist/esm/tracker/react/index.js', 'utf8')).toMatch(
      /^("use strict";\s*)?['"]use client['"]/,
    );
    expect(readFileSync('dist/cjs/tracker/react/index.js', 'utf8')).toMatch(
      /^("use strict";\s*)?['"]use client['"]/,
    );
  });
  it('returns hooks that know an event map', () => {
    const hooks = createTrackerHooks<{ viewed: { page: string } }>();
    const Page = () => {
      hooks.useTrackOnMount('viewed', { page: '/' });
      // @ts-expect-error -- no such event
      hooks.useTrackOnMount('left');
      return createElement('p', null, String(hooks.useTracker() === tracker));
    };
    const root = createElement(hooks.TrackerProvider, { tracker }, createElement(Page));
    expect(renderToString(root)).toBe('<p>true</p>');
  });
});
