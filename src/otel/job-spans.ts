import type { Span, SpanContext, Tracer } from '@opentelemetry/api';
import { monotonicMs } from '../core/async.js';
import { stageOf } from '../core/job-status.js';
import type { JobAcceptedEvent } from '../media/events.js';
import type { FileUpdate } from '../media/status/wait-options.js';
import { errorAttributeOf, statusAttributeOf } from './attributes.js';
import type { OtelApi } from './call-spans.js';
import type { Metrics } from './metrics.js';

interface OpenJob {
  readonly span: Span;
  readonly kind: string;
  readonly startedAt: number;
  checks: number;
}

// The maximum number of open spans; beyond it the oldest ones end. Spans of jobs that nothing waits for stay
// open.
const maxOpen = 10_000;

/** The spans of media jobs, from their acceptance to the status check that sees their end. */
export class JobSpans {
  readonly #api: OtelApi;
  readonly #tracer: Tracer;
  readonly #metrics: Metrics;
  readonly #open = new Map<string, OpenJob>();
  readonly #submits = new Map<number, SpanContext>();

  constructor(api: OtelApi, tracer: Tracer, metrics: Metrics) {
    this.#api = api;
    this.#tracer = tracer;
    this.#metrics = metrics;
  }

  /** Remembers the span of a call, because its jobs are announced shortly after. */
  remember(callId: number, call: SpanContext | undefined): void {
    if (call) {
      this.#submits.set(callId, call);
      dropOldest(this.#submits, () => undefined);
    }
  }

  accept({ fileId, kind, callId }: JobAcceptedEvent): void {
    this.#start(fileId, kind, this.#submits.get(callId));
  }

  update({ fileId, status, attempt }: FileUpdate): void {
    const job = this.#open.get(fileId) ?? this.#start(fileId, 'unknown', undefined);
    const stage = stageOf(status);
    job.checks++;
    const word = statusAttributeOf(status);
    job.span.addEvent('status check', { 'postreel.job.status': word, 'postreel.check': attempt });
    if (stage === 'active') {
      return;
    }
    this.#open.delete(fileId);
    const error = stage === 'failed' ? errorAttributeOf(word) : undefined;
    const attributes = { 'postreel.job.kind': job.kind, 'postreel.job.status': word, ...error };
    job.span.setAttributes({ ...attributes, 'postreel.job.checks': job.checks });
    if (stage === 'failed') {
      job.span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    job.span.end();
    this.#metrics.recordJob(monotonicMs() - job.startedAt, attributes);
  }

  stop(): void {
    for (const { span } of this.#open.values()) {
      span.end();
    }
    this.#open.clear();
  }

  #start(fileId: string, kind: string, submit: SpanContext | undefined): OpenJob {
    const attributes = { 'postreel.job.file_id': fileId, 'postreel.job.kind': kind };
    const links = submit ? [{ context: submit }] : [];
    const span = this.#tracer.startSpan(`postreel job ${kind}`, { attributes, links });
    const job = { span, kind, startedAt: monotonicMs(), checks: 0 };
    this.#open.set(fileId, job);
    dropOldest(this.#open, ({ span: oldest }) => oldest.end());
    return job;
  }
}

function dropOldest<Key, Value>(map: Map<Key, Value>, onDrop: (value: Value) => void): void {
  const [oldest] = map.size > maxOpen ? map : [];
  if (oldest) {
    map.delete(oldest[0]);
    onDrop(oldest[1]);
  }
}
