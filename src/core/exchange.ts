import { effectHint, secretsOf } from './answer.js';
import { Timer } from './async.js';
import type { Settings } from './settings.js';
import {
  ConnectionError,
  InvalidRequestError,
  TimeoutError,
  UnexpectedResponseError,
} from './errors.js';
import { letGo, readText, UnusableResponse, type Http } from './http.js';
import { outcomeOf, ownLimitOf, reasonOfFault, unreachableProxy } from './outcome.js';
import { cleanCause } from './redact.js';
import type { PreparedCall } from './request.js';
import { isLoopback, parseExactly } from './values.js';

// Far more than any answer of these services; an endless body must end somewhere.
const maxAnswerBytes = 256 * 1024 * 1024;
const maxErrorBytes = 2 * 1024 * 1024;
// How long a response is read after its caller gave up.
const maxLateMs = 5 * 60_000;

/** How a request is made. */
interface ExchangeTerms {
  readonly settings: Settings;
  /** How long it may take. */
  readonly limitMs: number;
  /** Emits a `warning`. */
  readonly warn: (message: string) => void;
}

/** One request on the wire, and how far it has come. */
export class Exchange {
  /** The head of the response, once it is there. */
  response: Response | undefined;
  #isHandedOver = false;
  readonly #call: PreparedCall;
  readonly #key: string | null;
  readonly #settings: Settings;
  readonly #timer: Timer;
  readonly #warn: (message: string) => void;

  constructor(call: PreparedCall, key: string | null, { settings, limitMs, warn }: ExchangeTerms) {
    this.#call = call;
    this.#key = key;
    this.#settings = settings;
    this.#timer = new Timer(limitMs, call.signal, call.clock);
    this.#warn = warn;
  }

  /** Does `fetch` have the request? From then on it may take effect. */
  get isHandedOver(): boolean {
    return this.#isHandedOver;
  }

  /**
   * Sends the request and resolves to the text of the response. Rejects with an error of ours, or with the
   * reason of an abort.
   */
  async run(http: Http): Promise<string> {
    const { signal, input } = this.#call;
    const onLate = input.hooks?.onLate;
    // Such a response is read to its end, even when its caller no longer waits.
    const reading = onLate && new AbortController();
    const text = this.#receive(http, (reading ?? this.#timer).signal);
    try {
      return await this.#timer.within(text);
    } catch (fault) {
      // The status line of a refusal decides, even when its body is lost.
      if (this.response?.ok === false && !isOver(signal)) {
        reading?.abort();
        return '';
      }
      if (onLate && isOver(this.#timer.signal)) {
        void this.#readLate(text, onLate, reading);
      }
      throw this.#explain(fault);
    } finally {
      this.#timer.stop();
    }
  }

  /**
   * Reads on after the caller gave up, since the response may hold ids of what was made. It keeps the process
   * alive meanwhile, for a limited time.
   */
  async #readLate(
    text: Promise<string>,
    onLate: (body: unknown) => void,
    reading: AbortController | undefined,
  ): Promise<void> {
    const { method, path, clock } = this.#call;
    if (!this.#isHandedOver) {
      reading?.abort(); // its outcome is `not-sent`: it must not leave now
      return;
    }
    this.#warn(
      `The caller of ${method} ${path} gave up before the response came. The response is read for up to ${maxLateMs / 60_000} more minutes, because it may hold the ids of what was made; until then it keeps the process alive.`,
    );
    const stop = clock.limit(maxLateMs, () => reading?.abort());
    try {
      const body = parseExactly(await text);
      if (this.response?.ok || this.#call.route.isAccepted?.(body)) {
        onLate(body);
      }
    } catch {
      // no response, or no ids in it
    } finally {
      stop();
    }
  }

  async #receive(http: Http, end: AbortSignal | undefined): Promise<string> {
    const response = await http(this.#call.request, this.#key, end, () => {
      this.#isHandedOver = true;
    });
    if (isOver(end)) {
      letGo(response); // a `fetch` that ignores an abort must not leave its answer open either
      throw end?.reason;
    }
    this.response = response;
    return readText(response, response.ok ? maxAnswerBytes : maxErrorBytes, end);
  }

  /** What a request without a complete response rejects with. */
  #explain(fault: unknown): unknown {
    const { method, path, request, signal, timeoutMs } = this.#call;
    const { timedOut, limitMs } = this.#timer;
    if (!timedOut && isOver(signal)) {
      return signal?.reason;
    }
    const line = `${method} ${path}`;
    const cause = cleanCause(fault, secretsOf(this.#call, this.#key));
    if (!this.#isHandedOver) {
      const message = `${line} was not sent: no request can be made of it.`;
      return new InvalidRequestError(message, { method, path, code: 'INVALID_REQUEST', cause });
    }
    // No fault after the head of a response proves that nothing was sent, whatever it is called.
    const isOpen = this.response !== undefined || timedOut;
    const ending = { phase: 'no-answer', fault: isOpen ? undefined : fault } as const;
    const outcome = outcomeOf({ ...ending, url: request.url }, this.#call);
    const hint = outcome === 'unknown' ? effectHint(this.#call) : '';
    const details = { method, path, outcome };
    if (timedOut) {
      // The shorter of the two ended it.
      const code = limitMs < timeoutMs ? 'DEADLINE_EXCEEDED' : 'TIMEOUT';
      const message = `${line} got no complete response within ${Math.ceil(limitMs)} ms.${hint}`;
      return new TimeoutError(message, { ...details, code });
    }
    const ownLimit = ownLimitOf(fault);
    if (ownLimit !== undefined) {
      const message = `${line} got no complete response in time: ${ownLimit}.${hint}`;
      return new TimeoutError(message, { ...details, code: 'TIMEOUT', cause });
    }
    if (fault instanceof UnusableResponse) {
      const message = `${line}: ${fault.message}.${hint}`;
      return new UnexpectedResponseError(message, { ...details, code: 'UNEXPECTED_RESPONSE' });
    }
    const { host } = new URL(request.url);
    const reason = reasonOfFault(cause);
    const why = reason === undefined ? '' : ` (${reason})`;
    if (outcome === 'not-sent') {
      const proxy = unreachableProxy(fault, request.url);
      if (proxy !== undefined) {
        const message = `${line} could not reach the proxy ${proxy}${why}, so it was not sent. The address of the proxy came from \`HTTPS_PROXY\` or \`HTTP_PROXY\`, which \`NODE_USE_ENV_PROXY\` turns on.`;
        return new ConnectionError(message, { ...details, code: 'NOT_CONNECTED', cause });
      }
      const message = `${line} could not reach ${host}${why}.${this.#sourceOfAddress()}`;
      return new ConnectionError(message, { ...details, code: 'NOT_CONNECTED', cause });
    }
    const message = `${line} lost the connection to ${host} before the response was complete${why}.${hint}`;
    return new ConnectionError(message, { ...details, code: 'CONNECTION_LOST', cause });
  }

  // Who cannot be reached is often not who was meant.
  #sourceOfAddress(): string {
    const { baseUrl, baseUrlName } = this.#settings;
    const isLocal = isLoopback(new URL(baseUrl).hostname);
    const hint = isLocal ? ' If it is the fake: is `npx postreel fake` running?' : '';
    const origin = baseUrlName === '`baseUrl`' ? `the option ${baseUrlName}` : baseUrlName;
    return ` The address came from ${origin}.${hint}`;
  }
}

// A function: the signal may have aborted since the last look.
function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}
