import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { createTracker } from '../../src/tracker/index.js';
import { TrackerProvider, useTrackOnMount, useTracker } from '../../src/tracker/react/index.js';

const tracker = createTracker({ publicKey: 'pk_test', baseUrl: 'https://service.test' });

// What it does in a page, under StrictMode too, is tested in the browser.
describe('react on a server', () => {
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
  it('says what is missing without a provider', () => {
    const Page = () => {
      useTracker();
      return null;
    };
    expect(() => renderToString(createElement(Page))).toThrow(
      'useTracker() needs a TrackerProvider above it.',
    );
  });
});
