import { effectHint, secretsOf } from './answer.js';
import { Timer } from '../async.js';
import { isLoopback, type Settings } from '../settings.js';
import {
  ConnectionError,
  InvalidRequestError,
  TimeoutError,
  UnexpectedResponseError,
} from '../errors.js';
import { discardBody, readText, UnusableResponse, type Http } from './http.js';
import { outcomeOf, ownLimitOf, reasonOfFault, unreachableProxy } from './outcome.js';
import { cleanCause } from './redact.js';
import type { PreparedCall } from './request.js';

// Far more than any response of these services. The limit stops an endless body.
const maxAnswerBytes = 256 * 1024 * 1024;
const maxErrorBytes = 2 * 1024 * 1024;
// How long a response is still read after its caller gave up.
const maxLateMs = 5 * 60_000;

/** The terms of one request. */
interface ExchangeTerms {
  readonly settings: Settings;
  /** How long the request may take, in milliseconds. */
  readonly limitMs: number;
  /** Emits a `warning`. */
  readonly warn: (message: string) => void;
}

/** One HTTP request, and how far it has got. */
export class Exchange {
  /** The response, once its headers have arrived. */
  response: Response | undefined;
  #isSent = false;
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

  /** Does `fetch` have the request? From then on the request may take effect. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /**
   * Sends the request and resolves to the text of the response. Rejects with a `PostreelError`, or with the
   * reason of an abort.
   */
  async run(http: Http): Promise<string> {
    const { signal, input } = this.#call;
    const onLate = input.hooks?.onLate;
    // A response with `onLate` is read to its end, even if the caller no longer waits.
    const reading = onLate && new AbortController();
    const text = this.#receive(http, (reading ?? this.#timer).signal);
    try {
      return await this.#timer.within(text);
    } catch (fault) {
      // The status of an error response is enough to build the error, even if its body is lost.
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
   * Keeps reading after the caller gave up, because the response may hold the ids of what was created. Until
   * it ends, for `maxLateMs` at most, it keeps the process alive.
   */
  async #readLate(
    text: Promise<string>,
    onLate: (body: unknown) => void,
    reading: AbortController | undefined,
  ): Promise<void> {
    const { method, path, clock } = this.#call;
    if (!this.#isSent) {
      reading?.abort(); // the call was reported as `not-sent`, so the request must not be sent now
      return;
    }
    this.#warn(
      `The caller of ${method} ${path} gave up before the response came. The response may hold the ids of new jobs, so the client reads it for up to ${maxLateMs / 60_000} more minutes, which keeps the process alive.`,
    );
    const stop = clock.limit(maxLateMs, () => reading?.abort());
    try {
      const body: unknown = JSON.parse(await text);
      if (this.response?.ok || this.#call.route.isAccepted?.(body)) {
        onLate(body);
      }
    } catch {
      // no response, or a body without ids
    } finally {
      stop();
    }
  }

  async #receive(http: Http, end: AbortSignal | undefined): Promise<string> {
    const response = await http(this.#call.request, this.#key, end, () => {
      this.#isSent = true;
    });
    if (isOver(end)) {
      discardBody(response); // a `fetch` that ignores the abort must not leave its response open
      throw end?.reason;
    }
    this.response = response;
    return readText(response, response.ok ? maxAnswerBytes : maxErrorBytes, end);
  }

  /** The error of a request without a complete response, or the reason of the caller's abort. */
  #explain(fault: unknown): unknown {
    const { method, path, request, signal, timeoutMs } = this.#call;
    const { timedOut, limitMs } = this.#timer;
    if (!timedOut && isOver(signal)) {
      return signal?.reason;
    }
    const line = `${method} ${path}`;
    const cause = cleanCause(fault, secretsOf(this.#call, this.#key));
    if (!this.#isSent) {
      const message = `${line} was not sent: the runtime could not build a request from it. See \`cause\`.`;
      return new InvalidRequestError(message, { method, path, code: 'INVALID_REQUEST', cause });
    }
    // The fault can prove that nothing was sent only if no headers arrived and the time limit did not end the
    // request. In all other cases it is ignored, whatever its code is.
    const isFaultIgnored = this.response !== undefined || timedOut;
    const ending = { phase: 'no-answer', fault: isFaultIgnored ? undefined : fault } as const;
    const outcome = outcomeOf({ ...ending, url: request.url }, this.#call);
    const hint = outcome === 'unknown' ? effectHint(this.#call) : '';
    const details = { method, path, outcome };
    if (timedOut) {
      // The shorter of the deadline and the timeout ended the request.
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

  // An unreachable host is often the wrong host, so the error names where the address came from.
  #sourceOfAddress(): string {
    const { baseUrl, baseUrlName } = this.#settings;
    const isLocal = isLoopback(new URL(baseUrl).hostname);
    const hint = isLocal ? ' If it is the fake: is `npx postreel fake` running?' : '';
    const origin = baseUrlName === '`baseUrl`' ? `the option ${baseUrlName}` : baseUrlName;
    return ` The address came from ${origin}.${hint}`;
  }
}

// A function, because the compiler would otherwise assume that `aborted` cannot change between two checks.
function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}
