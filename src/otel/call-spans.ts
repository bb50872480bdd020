import type * as OpenTelemetry from '@opentelemetry/api';
import type { Attributes, Span, SpanContext, Tracer } from '@opentelemetry/api';
import { monotonicMs } from '../core/async.js';
import type {
  CallEndEvent,
  CallStartEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
} from '../core/types.js';
import { errorAttributeOf, errorTypeOf, requestAttributesOf, spanNameOf } from './attributes.js';
import type { Metrics } from './metrics.js';

export type OtelApi = typeof OpenTelemetry;

/** A call in progress. */
interface OpenCall {
  readonly span: Span;
  readonly attributes: Attributes;
  /** When the call was ready to be sent: the time from then until it is sent counts as queue time. */
  readyAt: number;
  queuedMs: number;
  attempts: number;
  attempt: Span | undefined;
}

/** The spans of calls, each with a child span per attempt. */
export class CallSpans {
  readonly #api: OtelApi;
  readonly #tracer: Tracer;
  readonly #metrics: Metrics;
  readonly #open = new Map<number, OpenCall>();

  constructor(api: OtelApi, tracer: Tracer, metrics: Metrics) {
    this.#api = api;
    this.#tracer = tracer;
    this.#metrics = metrics;
  }

  start(event: CallStartEvent): void {
    const attributes = requestAttributesOf(event);
    const span = this.#tracer.startSpan(`postreel ${spanNameOf(event)}`, { attributes });
    this.#open.set(event.callId, {
      span,
      attributes,
      readyAt: monotonicMs(),
      queuedMs: 0,
      attempts: 0,
      attempt: undefined,
    });
  }

  request({ callId, attempt, within, ...event }: RequestEvent): void {
    const call = this.#open.get(callId);
    if (!call) {
      return;
    }
    const { SpanKind, context, trace } = this.#api;
    const queuedMs = Math.max(0, monotonicMs() - call.readyAt);
    call.queuedMs += queuedMs;
    call.attempts++;
    const resends = attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : undefined;
    const attributes = {
      ...call.attributes,
      ...resends,
      'postreel.queue.duration': queuedMs / 1_000,
    };
    const parentContext = trace.setSpan(context.active(), call.span);
    const name = spanNameOf({ ...event, callId });
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parentContext);
    call.attempt = span;
    // The spans of the runtime's instrumentation of the request belong below this span.
    within((send) => context.with(trace.setSpan(context.active(), span), send));
    this.#metrics.recordQueueTime(queuedMs, call.attributes);
  }

  response({ callId, status, durationMs, outcome }: ResponseEvent): void {
    const call = this.#open.get(callId);
    const isFailure = outcome !== undefined;
    const answer = status === undefined ? undefined : { 'http.response.status_code': status };
    const error = isFailure ? errorAttributeOf(status?.toString() ?? '_OTHER') : undefined;
    if (!call) {
      return;
    }
    call.attempt?.setAttributes({ ...answer, ...error, ...outcomeOf(outcome) });
    this.#finish(call.attempt, isFailure);
    call.attempt = undefined;
    call.readyAt = monotonicMs();
    this.#metrics.recordAttempt(durationMs, { ...call.attributes, ...answer, ...error });
  }

  retry({ callId, delayMs, error }: RetryEvent): void {
    const call = this.#open.get(callId);
    if (!call) {
      return;
    }
    call.span.addEvent('retry', {
      'postreel.retry.delay': delayMs / 1_000,
      ...errorAttributeOf(errorTypeOf(error)),
    });
    call.readyAt = monotonicMs() + delayMs;
    this.#metrics.recordRetry(call.attributes);
  }

  /** Ends the span of a call; returns its context, for links. */
  end({ callId, outcome, error }: CallEndEvent): SpanContext | undefined {
    const call = this.#open.get(callId);
    if (!call) {
      return undefined;
    }
    this.#open.delete(callId);
    call.span.setAttributes({
      'postreel.attempts': call.attempts,
      'postreel.queue.duration': call.queuedMs / 1_000,
      ...outcomeOf(outcome),
      ...(error === undefined ? undefined : errorAttributeOf(errorTypeOf(error))),
    });
    this.#finish(call.attempt, true);
    this.#finish(call.span, error !== undefined);
    return call.span.spanContext();
  }

  stop(): void {
    for (const { span, attempt } of this.#open.values()) {
      attempt?.end();
      span.end();
    }
    this.#open.clear();
  }

  #finish(span: Span | undefined, isFailure: boolean): void {
    if (isFailure) {
      span?.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    span?.end();
  }
}

function outcomeOf(outcome: string | undefined): Attributes {
  return { 'postreel.outcome': outcome ?? 'done' };
}
