import { absentTracker } from './absent.js';
import { Core } from './core.js';
import { snapshot } from './data.js';
import { checkOptions } from './options.js';
import { pageOfBrowser, type TrackerEnvironment } from './page.js';
import type { AnyEvents, EventMap, Tracker, TrackerOptions, TrackOptions } from './types.js';

/**
 * Creates the event tracker of a page. On a server it does nothing, quietly. Options that could never
 * work throw; nothing else does.
 *
 * @example
 * const tracker = createTracker<{ signed_up: { plan: string } }>({ publicKey: 'pk_…', baseUrl });
 * tracker.identify('ann@example.com');
 * tracker.track('signed_up', { plan: 'pro' });
 */
export function createTracker<Events extends EventMap<Events> = AnyEvents>(
  options: TrackerOptions,
): Tracker<Events> {
  const environment = pageOfBrowser();
  if (environment) {
    return createTrackerIn(environment, options);
  }
  checkOptions(options, true);
  return absentTracker('server');
}

/** Creates a tracker in a page or an app, with the methods that users call. */
export function createTrackerIn<Events extends EventMap<Events>>(
  environment: TrackerEnvironment,
  options: TrackerOptions,
): Tracker<Events> {
  const core = new Core(options, environment);
  const { queue } = core;
  return {
    on: core.notices.on,
    dispose: () => core.dispose(),
    get pending() {
      return core.pending;
    },
    consent: {
      grant: () => core.decide('granted'),
      deny: () => {
        core.decide('denied');
        return Promise.resolve();
      },
    },
    identify: (email) => core.identify(email),
    track: (event: string, ...[data, own]: readonly unknown[]) =>
      core.track(event, data ?? undefined, (own as TrackOptions | undefined)?.email),
    flush: (own) => core.flush(own?.timeout ?? 5000),
    reset: () => {
      core.decide('erased');
      return Promise.resolve();
    },
    stats: () => snapshot(core.counts),
    pause: () => {
      queue.isPaused = true;
    },
    resume: () => {
      queue.isPaused = false;
      core.pump();
    },
  };
}
