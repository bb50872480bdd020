import type { Refusal } from '../../core/http/refusal.js';
import type { Wire } from '../../core/service-options.js';
import { enveloped, written } from '../../wire/answer.js';
import { delivery } from '../../wire/delivery.js';
import { errorAnswer } from '../../wire/errors.js';
import { withOwnIds } from '../../wire/ids.js';
import type { MessagingSettings } from '../settings.js';
import type { MessagingWorld } from '../state.js';
import { inWorld } from './answers.js';
import { understood } from './requests.js';
import { withOwnWords, withWords } from './words.js';

/** What lies between the handlers, which keep to the document, and the wire of this world. */
export function messagingWire(world: () => MessagingWorld): Wire {
  const settings = () => world().settings;
  return {
    request: (request, endpoint) =>
      understood(
        withOwnWords(withOwnIds(request, world().ids, settings().ids), endpoint, settings()),
        endpoint,
        settings(),
      ),
    answer(answer, endpoint) {
      const shaped = inWorld(answer, endpoint, settings());
      const worded = withWords(shaped.body, endpoint, settings());
      const body = written(worded, settings(), world().ids);
      return enveloped({ ...shaped, body }, settings());
    },
    refusal: (refusal, { path }, requestId) =>
      errorAnswer(settings(), {
        refusal: withStatus(refusal, settings()),
        requestId,
        now: world().clock.now(),
        isLegacy: path === '/v1/send' || path === '/v1/verify',
      }),
    deliver: delivery(settings),
  };
}

/** The status of what the document forbids without naming one. */
function withStatus(refusal: Refusal, settings: MessagingSettings): Refusal {
  const statuses: Readonly<Record<string, number>> = {
    VALIDATION_ERROR: settings.invalidStatus,
    PUBLIC_KEY: settings.publicKeyStatus,
  };
  const status = statuses[refusal.code];
  return status === undefined ? refusal : refusal.withStatus(status);
}
