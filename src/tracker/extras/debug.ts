import type { EventMap, Tracker, TrackerNotices } from '../types.js';

/**
 * Writes one readable line to the console for each notice of a tracker: the event and its outcome, without
 * email and data. Returns the function that stops it.
 */
export function debug<Events extends EventMap<Events>>(
  tracker: Pick<Tracker<Events>, 'on'>,
): () => void {
  const log = <Notice extends keyof TrackerNotices>(
    notice: Notice,
    text: (detail: TrackerNotices[Notice]) => string,
  ) => tracker.on(notice, (detail) => console.info(`[tracker] ${notice}: ${text(detail)}`));
  const formatSeconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
  const stops = [
    log('delivered', ({ event }) => event),
    log('unconfirmed', ({ event }) => `${event} (handed over, no answer seen)`),
    log('dropped', ({ event, reason }) => `${event} (${reason})`),
    log('retry', ({ event, status, delayMs }) => {
      return `${event} (${status || 'no answer'}), again in ${formatSeconds(delayMs)}`;
    }),
    log('paused', ({ status }) => `after a ${status}, until resume() or the next page`),
    log('warning', ({ message }) => message),
    log('blocked', ({ delayMs }) => `nothing answers, one try every ${formatSeconds(delayMs)}`),
  ];
  return () => stops.forEach((stop) => stop());
}
