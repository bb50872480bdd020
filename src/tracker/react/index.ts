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
 * One context per copy of React, shared by all copies of this module: a provider in ESM serves a hook in
 * CommonJS.
 */
const contextOfReact = (): TrackerContext => {
  // as: only this module writes under its symbol
  const shared = globalThis as { [CONTEXTS]?: WeakMap<typeof createContext, TrackerContext> };
  const contexts = shared[CONTEXTS] ?? new WeakMap<typeof createContext, TrackerContext>();
  shared[CONTEXTS] = contexts;
  const context = contexts.get(createContext) ?? createContext<Tracker | null>(null);
  contexts.set(createContext, context);
  return context;
};

/** Props of {@link TrackerProvider}. */
export interface TrackerProviderProps<Events extends EventMap<Events> = AnyEvents> {
  /** Create the tracker once, outside of the components: its page lives longer than any of them. */
  readonly tracker: Tracker<Events>;
  readonly children?: ReactNode;
}

/** Provides a tracker to the components below. */
export const TrackerProvider = <Events extends EventMap<Events> = AnyEvents>({
  tracker,
  children,
}: TrackerProviderProps<Events>): ReactElement =>
  // as: the event map exists only in types; `useTracker` asks for it again
  createElement(contextOfReact().Provider, { value: tracker as unknown as Tracker }, children);

let hasReported = false;

/**
 * The tracker of the nearest provider. Without a provider it warns once in the console and returns a tracker
 * that drops every event: analytics must not crash the app.
 */
export const useTracker = <Events extends EventMap<Events> = AnyEvents>(): Tracker<Events> => {
  const tracker = useContext(contextOfReact());
  if (!tracker && !hasReported) {
    hasReported = true;
    console.error('useTracker() needs a TrackerProvider above it.');
  }
  // as: the provider has a tracker of this map
  return tracker ?? absent;
};

/** Tracks an event once per mounted component, under StrictMode too. */
export const useTrackOnMount = <Events extends EventMap<Events> = AnyEvents>(
  ...event: EventArguments<Events>
): void => {
  const tracker = useTracker();
  const isTracked = useRef(false);
  useEffect(() => {
    // StrictMode runs effects twice, but keeps the value of a ref.
    if (isTracked.current) {
      return;
    }
    isTracked.current = true;
    // as: the event map exists only in types
    tracker.track(...(event as unknown as EventArguments<AnyEvents>));
    // Do not track again when props change.
  }, []);
};

/** Creates the provider and the hooks for one event map, so that you write the map once. */
export const createTrackerHooks = <Events extends EventMap<Events>>() => ({
  /** Provides a tracker to the components below it. */
  TrackerProvider: TrackerProvider<Events>,
  /** The tracker of the provider above. */
  useTracker: useTracker<Events>,
  /** Tracks an event once when the component mounts. */
  useTrackOnMount: useTrackOnMount<Events>,
});

/** Replaces a tracker that was not provided. */
const absent = absentTracker();
