import {
  type ReactElement,
  type ReactNode,
  createContext,
  createElement,
  useContext,
  useEffect,
  useRef,
} from 'react';
import type { AnyEvents, EventArguments, EventMap, Tracker } from '../index.js';

const Context = createContext<Tracker | null>(null);

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
  createElement(Context.Provider, { value: tracker as unknown as Tracker }, children);

/** The tracker of the nearest provider. Throws without one. */
export const useTracker = <Events extends EventMap<Events> = AnyEvents>(): Tracker<Events> => {
  const tracker = useContext(Context);
  if (!tracker) {
    throw new Error('useTracker() needs a TrackerProvider above it.');
  }
  // The provider was given a tracker of this map.
  return tracker;
};

/** Tracks an event once per mounted component, under StrictMode too. */
export const useTrackOnMount = <Events extends EventMap<Events> = AnyEvents>(
  ...event: EventArguments<Events>
): void => {
  const tracker = useTracker();
  const isTracked = useRef(false);
  useEffect(() => {
    // The map exists in types alone.
    const any = event as unknown as EventArguments<AnyEvents>;
    // StrictMode runs effects twice; what a ref holds stays.
    if (!isTracked.current) {
      tracker.track(...any);
    }
    isTracked.current = true;
    // Later props are no new mount.
  }, []);
};
