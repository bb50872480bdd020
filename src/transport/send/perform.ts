import { isPostreelError, UnexpectedResponseError } from '../../errors/index.js';
import type { Answer } from '../../contract/call.js';
import { readList } from '../../pagination/styles.js';
import type { CallContext, RawAnswer, TransportParts } from '../context.js';
import { withinDeadline } from '../deadline.js';
import { requireThat } from '../option-checks.js';
import { unwrap } from '../response/read.js';
import { Validator } from '../validation/validator.js';
import { readBack, type MakeCall } from './reconcile.js';
import { Sender } from './sender.js';

/** Checks calls, sends them, and reads their answers. */
export class Performer {
  readonly #parts: TransportParts;
  readonly #validator: Validator;
  readonly #makeCall: MakeCall;

  constructor(parts: TransportParts, makeCall: MakeCall) {
    this.#parts = parts;
    this.#validator = new Validator(parts);
    this.#makeCall = makeCall;
  }

  /** Takes a call that is built to its answer: each step is in the file of its name. */
  async perform(call: CallContext): Promise<Answer<unknown>> {
    const { route, state, options } = call;
    if (options.prefetch !== undefined) {
      checkPrefetch(options.prefetch, route.returns.list !== undefined);
    }
    // Also where nothing is waited for: whoever made the call may still want to hear its events.
    await this.#validator.checkRequest(call);
    const known = this.#keyFor(call);
    const key = known instanceof Promise ? await known : known;
    const sender = new Sender(call, key, this.#parts);
    const answer = await sender.send().catch((failure: unknown) => this.#reconcile(failure, call));
    if (call.usesSession) {
      this.#parts.session.keep(route, answer.response);
    }
    const data = resultOf(call, answer.body);
    const checks = this.#validator.checkAnswer(call, data);
    if (checks) {
      await checks;
    }
    state.outcome = undefined;
    return { data, response: answer.response, requestId: answer.requestId };
  }

  #keyFor(call: CallContext): string | null | Promise<string | null> {
    const { keyring, session } = this.#parts;
    const key = keyring.keyFor(call.route, session);
    return key instanceof Promise ? this.#fetched(key, call) : key;
  }

  async #fetched(key: Promise<string | null>, call: CallContext): Promise<string | null> {
    const fetched = await withinDeadline(key, call);
    call.signal?.throwIfAborted();
    return fetched;
  }

  // A lost answer of a call that can be read back need not stay unknown.
  async #reconcile(failure: unknown, call: CallContext): Promise<RawAnswer> {
    const { route, options } = call;
    const isLost = isPostreelError(failure) && failure.outcome === 'unknown';
    if (!isLost || !options.reconcile || !route.readBack) {
      throw failure;
    }
    const found = await readBack(route.readBack, call, this.#makeCall).catch(() => undefined);
    options.signal?.throwIfAborted();
    if (found) {
      return found;
    }
    throw failure;
  }
}

// An empty answer, `true` and `{ success: true }` are answers too: an empty record stands for them.
function resultOf({ route, path, state }: CallContext, body: unknown): unknown {
  if (route.returns.list === undefined) {
    const result = unwrap(body);
    if (result !== undefined && result !== null && result !== true) {
      return result;
    }
    return route.returns.isNothing ? undefined : {};
  }
  const page = readList(body, route.returns);
  if (page) {
    return page;
  }
  const { method } = route;
  state.outcome = 'rejected';
  throw new UnexpectedResponseError(`${method} ${path} was answered without a list in it.`, {
    code: 'UNEXPECTED_RESPONSE',
    outcome: 'rejected',
    method,
    path,
  });
}

// Each page ahead is held in memory.
const mostAhead = 100;

/** Refuses a number of pages that cannot be requested ahead, and one for a call without pages. */
function checkPrefetch(pages: number, isList: boolean): void {
  requireThat(isList, 'prefetch', pages, 'left out: only lists have pages');
  const isCount = Number.isInteger(pages) && pages >= 0 && pages <= mostAhead;
  requireThat(isCount, 'prefetch', pages, `a whole number from 0 to ${mostAhead}`);
}
