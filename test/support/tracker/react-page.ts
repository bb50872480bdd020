import { StrictMode, Suspense, createElement, use, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import type { Tracker } from 'postreel/tracker';
import { TrackerProvider, useTrackOnMount, useTracker } from 'postreel/tracker/react';

function Panel({ name }: { readonly name: string }) {
  useTrackOnMount('viewed', { name });
  return createElement('p', null, name);
}

/** Tracks data that no event can carry, in an effect. */
function Broken({ name }: { readonly name: string }) {
  const tracker = useTracker();
  useEffect(() => void tracker.track('viewed', { price: name === 'first' ? NaN : Infinity }));
  return createElement('p', null, name);
}

const loads = new Map<string, Promise<string>>();

/** Suspends while its content loads: at first, and again when its name changes. */
function Loading({ name }: { readonly name: string }) {
  useTrackOnMount('viewed', { name });
  const load = loads.get(name) ?? new Promise<string>((resolve) => setTimeout(resolve, 100, name));
  loads.set(name, load);
  return createElement('p', null, use(load));
}

const SCENES = { Panel, Broken, Loading };

function Page({ scene }: { readonly scene: keyof typeof SCENES }) {
  const [name, setName] = useState('first');
  return createElement(
    'div',
    null,
    createElement(Suspense, { fallback: 'wait' }, createElement(SCENES[scene], { name })),
    createElement('button', { onClick: () => setName('second') }, 'rename'),
  );
}

/** Renders a page under StrictMode that tracks one event when it is mounted. */
export function render(tracker: Tracker, scene: keyof typeof SCENES): void {
  const root = document.body.appendChild(document.createElement('div'));
  const page = createElement(TrackerProvider, { tracker }, createElement(Page, { scene }));
  createRoot(root).render(createElement(StrictMode, null, page));
}
