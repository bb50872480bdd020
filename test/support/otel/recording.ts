import { AsyncLocalStorage } from 'node:async_hooks';
import { context, ROOT_CONTEXT, type Context, type ContextManager } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

/** Sets up the real SDK, and keeps everything that it exports in memory. */
export function startRecording() {
  const spans = new InMemorySpanExporter();
  const traces = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  return {
    tracer: traces.getTracer('test'),
    meter: meters.getMeter('test'),
    spans: () => spans.getFinishedSpans(),
    span: (name: string) => spans.getFinishedSpans().find((span) => span.name === name),
    /** All measured values, by the names of their instruments. */
    async metrics() {
      await reader.forceFlush();
      const metrics = exporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap(({ metrics }) => metrics);
      return new Map(
        (metrics ?? []).map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints]),
      );
    },
    /** The description of an instrument. */
    async instrument(name: string) {
      await reader.forceFlush();
      const all = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
      return all
        .flatMap(({ metrics }) => metrics)
        .find(({ descriptor }) => descriptor.name === name);
    },
    async stop() {
      await meters.shutdown();
      await traces.shutdown();
    },
  };
}

/** Makes the active span follow asynchronous code, as an application's SDK does. */
export function followContext(): () => void {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, run, self, ...args) => storage.run(active, () => run.apply(self, args)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  context.setGlobalContextManager(manager);
  return () => context.disable();
}
