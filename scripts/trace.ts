// Draws docs/trace.svg from spans that the real OpenTelemetry SDK exports: `npx tsx scripts/trace.ts`.
import { writeFileSync } from 'node:fs';
import { SpanStatusCode, type HrTime } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { MediaClient } from 'postreel';
import { instrument } from 'postreel/otel';
import { createFakeMedia } from 'postreel/testing';

const width = 860;
const left = 250;
const rowHeight = 26;

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const fake = createFakeMedia({ durations: () => 2_500, queueTime: 0, clock: { mode: 'real' } });
const { apiKey, baseUrl, fetch } = fake;
const media = new MediaClient({ apiKey, baseUrl, fetch });
await instrument(media, { tracer: provider.getTracer('postreel') });

const job = await media.generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
fake.fail('GET /v1/generate/status', { status: 503 });
await job.waitForFile({ interval: 1_000 });

const spans = exporter.getFinishedSpans();
writeFileSync('docs/trace.svg', drawing(spans));
console.log(`docs/trace.svg: ${spans.length} spans`);

function drawing(all: readonly ReadableSpan[]): string {
  const rows = [...all].sort(
    (one, other) => ms(one.startTime) - ms(other.startTime) || depth(one) - depth(other),
  );
  const start = Math.min(...rows.map(({ startTime }) => ms(startTime)));
  const end = Math.max(...rows.map(({ endTime }) => ms(endTime)));
  const x = (time: number) => left + ((time - start) / (end - start)) * (width - left - 70);
  const height = rowHeight * rows.length + 20;
  const link = (spanId: string, row: number, at: (time: number) => number) => {
    const from = rows.findIndex((span) => span.spanContext().spanId === spanId);
    const source = rows[from];
    if (!source) {
      return '';
    }
    const x1 = at(ms(source.endTime));
    const y1 = 10 + from * rowHeight + 18;
    const y2 = 10 + row * rowHeight + 4;
    return `<path d="M${x1.toFixed(1)} ${y1} V${y2}" stroke="#888" stroke-dasharray="3 2" fill="none"/>`;
  };
  const lines = rows.map((span, row) => {
    const from = x(ms(span.startTime));
    const to = Math.max(x(ms(span.endTime)), from + 2);
    const y = 10 + row * rowHeight;
    const took = `${Math.round(ms(span.endTime) - ms(span.startTime))} ms`;
    return [
      `<text x="${8 + 14 * depth(span)}" y="${y + 15}">${span.name.replace('postreel ', '')}</text>`,
      `<rect x="${from.toFixed(1)}" y="${y + 4}" width="${(to - from).toFixed(1)}" height="14" rx="2" fill="${colour(span)}"/>`,
      `<text x="${(to + 4).toFixed(1)}" y="${y + 15}" class="took">${took}</text>`,
      ...span.links.map(({ context }) => link(context.spanId, row, x)),
    ].join('\n');
  });
  const style = 'text{font:12px sans-serif;fill:#333}.took{fill:#777}';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<style>${style}</style>
<rect width="100%" height="100%" fill="#fff"/>
${lines.join('\n')}
</svg>
`;
}

function depth({ parentSpanContext }: ReadableSpan): number {
  return parentSpanContext ? 1 : 0;
}

function colour({ status, name, parentSpanContext }: ReadableSpan): string {
  if (status.code === SpanStatusCode.ERROR) {
    return '#c0392b';
  }
  return name.startsWith('postreel job') ? '#8e6bbf' : parentSpanContext ? '#7fb3d5' : '#2e6da4';
}

function ms([seconds, nanoseconds]: HrTime): number {
  return seconds * 1_000 + nanoseconds / 1e6;
}
