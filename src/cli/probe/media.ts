import type { mediaBehaviors } from 'postreel/testing';
import { ask, statusOf, type Target } from './ask.js';
import { errorShapeOf, sharedHabits, type Seen } from './habits.js';

/** The questions, all of them reads. */
export const mediaQuestions = ['/v1/generate/status?fileId=probe_nobody', '/v1/generate/status'];

/** Finds out which world a media service is. It has no lists, so refusals show most. */
export async function probeMedia(target: Target): Promise<Seen<typeof mediaBehaviors>> {
  const [unknown = '', invalid = ''] = mediaQuestions;
  const missing = await ask(target, unknown);
  const wrong = await ask(target, invalid);
  const refused = await ask(target, unknown, 'probe_of_a_wrong_key');
  const shared = sharedHabits(undefined, missing);
  return {
    ...shared,
    ...(shared.refusals === 'status' && { errorShape: errorShapeOf(missing) }),
    ...pick(statusOf(missing), [404, 410, 400], (unknownFileStatus) => ({ unknownFileStatus })),
    ...pick(statusOf(wrong), [400, 422], (invalidStatus) => ({ invalidStatus })),
    ...pick(statusOf(refused), [401, 403], (keyStatus) => ({ keyStatus })),
  };
}

/** A setting, where the fakes know the status. */
function pick<Status extends number, Part extends object>(
  status: number,
  known: readonly Status[],
  make: (status: Status) => Part,
): Part | undefined {
  const found = known.find((one) => one === status);
  return found === undefined ? undefined : make(found);
}
