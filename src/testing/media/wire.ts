import { behaviorOf } from '../behavior/setting.js';
import { mediaBehaviors, type MediaBehavior } from '../behavior/media.js';
import type { Refusal } from '../core/http.js';
import type { Wire } from '../core/service.js';
import { enveloped, encodeBody, withOwnIds } from '../wire/answer.js';
import { cutRefusal, errorAnswer } from '../wire/errors.js';
import type { FakeMediaOptions } from './options.js';
import type { MediaWorld } from './world.js';

/** Translates between the handlers, which follow the document, and the wire format of this world. */
export function mediaWire({ settings, ids, clock }: MediaWorld): Wire {
  return {
    request: (request) => withOwnIds(request, ids, settings.ids),
    answer(answer) {
      const body = encodeBody(answer.body, settings, ids);
      return enveloped({ ...answer, body }, settings);
    },
    refusal: (refusal, _request, requestId) =>
      errorAnswer(settings, {
        refusal: withStatus(refusal, settings),
        requestId,
        now: clock.now(),
        isLegacy: false,
      }),
    deliver: (response) => cutRefusal(response, settings),
  };
}

/** The settings of a fake with these options; all other settings as documented. */
export function settingsOf(options: FakeMediaOptions): MediaBehavior {
  const { errorShape, envelopes, statusField, progress, statusCounts } = options;
  const alone = { errorShape, envelopes, statusField, progress, statusCounts };
  const given = Object.entries(alone).filter(([, value]) => value !== undefined);
  return behaviorOf(mediaBehaviors, { ...options.behavior, ...Object.fromEntries(given) });
}

/** Sets the status of a refusal. The document shows no status for either of these. */
function withStatus(refusal: Refusal, settings: MediaBehavior): Refusal {
  const statuses: Readonly<Record<string, number>> = {
    PENDING_LIMIT: settings.capStatus,
    UNKNOWN_FILE: settings.unknownFileStatus,
  };
  const status = statuses[refusal.code];
  return status === undefined ? refusal : refusal.withStatus(status);
}
