'use client';

import {
  type Context,
  type ReactElement,
  type ReactNode,
  createContext,
  createElement,
  useContext,
  useEffect,
  useRef,
} from 'react';
import { absentTracker } from '../absent.js';
import type { AnyEvents, EventArguments, EventMap, Tracker } from '../types.js';

export type * from '../types.js';

type TrackerContext = Context<Tracker | null>;

const CONTEXTS = Symbol.for('postreel.tracker.react-contexts');

/**
 * One context for each copy of React, whichever copy of this module asks: a provider in ESM serves a hook
 * in CommonJS.
 */
const contextOfReact = (): TrackerContext => {
  // as: ours, by its symbol
  const shared = globalThis as { [CONTEXTS]?: WeakMap<typeof createContext, TrackerContext> };
  const contexts = shared[CONTEXTS] ?? new WeakMap<typeof createContext, TrackerContext>();
  shared[CONTEXTS] = contexts;
  const context = contexts.get(createContext) ?? createContext<Tracker | null>(null);
  contexts.set(createContext, context);
  return context;
};

/** Props of {@link TrackerProvider}. */
export interface TrackerProviderProps<Events extends EventMap<Events> = AnyEvents> {
  /** Made once, outside of the components: its page lives longer than any of them. */
  readonly tracker: Tracker<Events>;
  readonly children?: ReactNode;
}

/** Hands a tracker to the components below. */
export const TrackerProvider = <Events extends EventMap<Events> = AnyEvents>({
  tracker,
  children,
}: TrackerProviderProps<Events>): ReactElement =>
  // The event map exists in types alone; `useTracker` asks for it again.
  createElement(contextOfReact().Provider, { value: tracker as unknown as Tracker }, children);

let isErrorTold = false;

/**
 * The tracker of the nearest provider. Without one it says so once in the console and hands out a
 * tracker that drops every event: what only counts must not take the app down.
 */
export const useTracker = <Events extends EventMap<Events> = AnyEvents>(): Tracker<Events> => {
  const tracker = useContext(contextOfReact());
  if (!tracker && !isErrorTold) {
    isErrorTold = true;
    console.error('useTracker() needs a TrackerProvider above it.');
  }
  // The provider was given a tracker of this map.
  return tracker ?? absent;
};

/** Tracks an event once per mounted component, under StrictMode too. */
export const useTrackOnMount = <Events extends EventMap<Events> = AnyEvents>(
  ...event: EventArguments<Events>
): void => {
  const tracker = useTracker();
  const isTracked = useRef(false);
  useEffect(() => {
    // StrictMode runs effects twice; what a ref holds stays.
    if (isTracked.current) {
      return;
    }
    isTracked.current = true;
    // The map exists in types alone.
    tracker.track(...(event as unknown as EventArguments<AnyEvents>));
    // Later props are no new mount.
  }, []);
};

/** The provider and the hooks for one event map, written down once. */
export const createTrackerHooks = <Events extends EventMap<Events>>() => ({
  /** Hands a tracker to the components below it. */
  TrackerProvider: TrackerProvider<Events>,
  /** The tracker of the provider above. */
  useTracker: useTracker<Events>,
  /** Tracks an event once when the component mounts. */
  useTrackOnMount: useTrackOnMount<Events>,
});

/** Stands in for a tracker that was not provided. */
const absent = absentTracker();
