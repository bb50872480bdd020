import { StrictMode, createElement, useState } from 'react';
import { createRoot } from 'react-dom/client';
import type { Tracker } from '../../../src/tracker/index.js';
import { TrackerProvider, useTrackOnMount } from '../../../src/tracker/react/index.js';

function Panel({ name }: { readonly name: string }) {
  useTrackOnMount('viewed', { name });
  return createElement('p', null, name);
}

function Page() {
  const [name, setName] = useState('first');
  return createElement(
    'div',
    null,
    createElement(Panel, { name }),
    createElement('button', { onClick: () => setName('second') }, 'rename'),
  );
}

/** Renders a page under StrictMode that tracks one event when it is mounted. */
export function render(tracker: Tracker): void {
  const root = document.body.appendChild(document.createElement('div'));
  const page = createElement(TrackerProvider, { tracker }, createElement(Page));
  createRoot(root).render(createElement(StrictMode, null, page));
}
