import type * as OpenTelemetry from '@opentelemetry/api';
import type { Meter, Tracer } from '@opentelemetry/api';
import type {
  CallEndEvent,
  CallStartEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
} from '../core/types.js';
import { readOptions, withMethods, type OptionKinds } from '../core/options.js';
import { ConfigurationError } from '../core/errors.js';
import type { JobAcceptedEvent } from '../media/events.js';
import type { FileUpdate } from '../media/status/wait-options.js';
import { CallSpans } from './call-spans.js';
import { JobSpans } from './job-spans.js';
import { createMetrics } from './metrics.js';

/** Options of {@link instrument}. */
export interface InstrumentOptions {
  /** @default the tracer `postreel` of the global provider */
  tracer?: Tracer | undefined;
  /** @default the meter `postreel` of the global provider */
  meter?: Meter | undefined;
}

const instrumentOptions: OptionKinds<InstrumentOptions> = {
  tracer: withMethods('a tracer of OpenTelemetry', 'startSpan'),
  meter: withMethods('a meter of OpenTelemetry', 'createHistogram'),
};

interface InstrumentedEvents {
  'call:start': CallStartEvent;
  'call:end': CallEndEvent;
  request: RequestEvent;
  response: ResponseEvent;
  retry: RetryEvent;
  'job:accepted': JobAcceptedEvent;
  'job:update': FileUpdate;
}

/** A client whose events are recorded: a `MessagingClient` or a `MediaClient`. */
export interface Instrumented {
  /** Adds a listener. */
  on(name: never, listener: (event: never) => void): unknown;
  /** Removes a listener. */
  off(name: never, listener: (event: never) => void): unknown;
}

/**
 * Records spans and metrics of a client's calls.
 *
 * They follow the semantic conventions for HTTP: a span per call with one per attempt below it, and one per
 * media job, linked to the call that submitted it. Clients derived by `with()` are included. Keys, bodies,
 * and values in paths are never recorded.
 *
 * @returns A function that ends all open spans and stops listening.
 */
export async function instrument(
  client: Instrumented,
  options?: InstrumentOptions,
): Promise<() => void> {
  const given = readOptions(options, instrumentOptions, {
    name: '`instrument()`',
    example: '{ tracer }',
  });
  const api = await loadApi();
  const tracer = given.tracer ?? api.trace.getTracer('postreel');
  const metrics = createMetrics(given.meter ?? api.metrics.getMeter('postreel'));
  const calls = new CallSpans(api, tracer, metrics);
  const jobs = new JobSpans(api, tracer, metrics);
  return listen(client, {
    listeners: {
      'call:start': (event) => calls.start(event),
      'call:end': (event) => jobs.remember(event.callId, calls.end(event)),
      request: (event) => calls.request(event),
      response: (event) => calls.response(event),
      retry: (event) => calls.retry(event),
      'job:accepted': (event) => jobs.accept(event),
      'job:update': (event) => jobs.update(event),
    },
    onStop: () => {
      calls.stop();
      jobs.stop();
    },
  });
}

async function loadApi(): Promise<typeof OpenTelemetry> {
  const api = await import('@opentelemetry/api').catch(missingError);
  return 'metrics' in api ? api : missingError(undefined); // added in version 1.3
}

function missingError(cause: unknown): never {
  throw new ConfigurationError(
    '`postreel/otel` needs `@opentelemetry/api` 1.3 or later. Install it next to `postreel`.',
    { code: 'OPENTELEMETRY_MISSING', cause },
  );
}

interface Listening {
  readonly listeners: {
    readonly [Name in keyof InstrumentedEvents]: (event: InstrumentedEvents[Name]) => void;
  };
  readonly onStop: () => void;
}

function listen(client: Instrumented, { listeners, onStop }: Listening): () => void {
  const pairs = Object.entries(listeners);
  for (const [name, listener] of pairs) {
    client.on(name as never, listener); // as: a client that does not know a name never emits it
  }
  return () => {
    for (const [name, listener] of pairs) {
      client.off(name as never, listener); // as: see above
    }
    onStop();
  };
}
