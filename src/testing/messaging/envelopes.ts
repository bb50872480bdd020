import type { FakeAnswer, Handlers } from '../core/types.js';
import type { Scope } from './state.js';
import { isRecord } from './validate.js';

/** Puts every answer into the envelope, or takes it out, as `settings.envelopes` asks. */
export function withEnvelopes(handlers: Handlers<Scope>): Handlers<Scope> {
  const wrapped = Object.entries(handlers).map(([endpoint, handle]) => [
    endpoint,
    async (...[request, scope]: Parameters<typeof handle>) =>
      reshape(await handle(request, scope), scope),
  ]);
  // Entries lose the type of their values.
  return Object.fromEntries(wrapped) as Handlers<Scope>;
}

function reshape(answer: FakeAnswer, { world }: Scope): FakeAnswer {
  const { body } = answer;
  const { envelopes } = world.settings;
  if (envelopes === 'documented' || body === undefined) {
    return answer;
  }
  const isEnveloped = isRecord(body) && body.success === true;
  if (envelopes === 'always') {
    return isEnveloped ? answer : { ...answer, body: { success: true, data: body } };
  }
  return isEnveloped && 'data' in body ? { ...answer, body: body.data } : answer;
}
