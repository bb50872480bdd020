import type { EventMap, Tracker, TrackerNotices } from '../types.js';

/**
 * Writes one readable line to the console for each notice of a tracker: the event and its outcome, without
 * email and data. Returns the function that stops it.
 */
export function debug<Events extends EventMap<Events>>(
  tracker: Pick<Tracker<Events>, 'on'>,
): () => void {
  const say = <Notice extends keyof TrackerNotices>(
    notice: Notice,
    text: (detail: TrackerNotices[Notice]) => string,
  ) => tracker.on(notice, (detail) => console.info(`[tracker] ${notice}: ${text(detail)}`));
  const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
  const stops = [
    say('delivered', ({ event }) => event),
    say('unconfirmed', ({ event }) => `${event} (handed over, no answer seen)`),
    say('dropped', ({ event, reason }) => `${event} (${reason})`),
    say('retry', ({ event, status, delayMs }) => {
      return `${event} (${status || 'no answer'}), again in ${seconds(delayMs)}`;
    }),
    say('paused', ({ status }) => `after a ${status}, until resume() or the next page`),
    say('warning', ({ message }) => message),
    say('blocked', ({ delayMs }) => `nothing answers, one try every ${seconds(delayMs)}`),
  ];
  return () => stops.forEach((stop) => stop());
}
