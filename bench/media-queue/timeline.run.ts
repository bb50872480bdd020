import { writeFileSync } from 'node:fs';
import { it } from 'vitest';
import { onFastClock } from './clock.js';
import {
  batchesOfTwenty,
  oneJobACall,
  queue,
  simulate,
  type Policy,
  type Run,
} from './simulate.js';

/** Draws `docs/images/queue-timeline.svg`: the same videos made in three ways. */
const policies: readonly [string, Policy][] = [
  ['media.queue()', queue],
  ['batches of twenty', batchesOfTwenty],
  ['one job a call', oneJobACall],
];
const count = 100;
const places = 20;
const [left, width, rowHeight, headHeight, gap] = [16, 768, 5, 26, 18] as const;

it('draws the three ways', async () => {
  const runs: [string, Run][] = [];
  for (const [name, policy] of policies) {
    // A first run loads the modules: the virtual clock would run for hours during the load.
    await onFastClock(() => simulate(policy, 1, 1));
    runs.push([name, await onFastClock(() => simulate(policy, count, 7))]);
  }
  writeFileSync('docs/images/queue-timeline.svg', draw(runs));
  for (const [name, { minutes, calls, ratio }] of runs) {
    console.log(
      `${name.padEnd(18)} ${minutes.toFixed(1)} min  ${calls} calls  ${ratio.toFixed(2)}`,
    );
  }
});

function draw(runs: readonly [string, Run][]): string {
  const panelHeight = headHeight + places * rowHeight + gap;
  const height = runs.length * panelHeight + 28;
  const longest = Math.ceil(Math.max(...runs.map(([, { minutes }]) => minutes)) / 10) * 10;
  const x = (minutes: number) => round(left + (minutes / longest) * width);
  const bound = runs[0]?.[1].boundMinutes ?? 0;
  const panels = runs.map(([name, run], index) => panel(name, run, index * panelHeight, x));
  const ticks = Array.from({ length: longest / 10 + 1 }, (_, index) => index * 10).map(
    (minute) => `<text class="tick" x="${x(minute)}" y="${height - 8}">${minute}</text>`,
  );
  const boundLines = runs.map((_, index) => {
    const top = index * panelHeight + headHeight;
    return `<path class="bound" d="M${x(bound)} ${top - 3}v${places * rowHeight + 6}"/>`;
  });
  const legend = `<text class="legend" x="${x(longest * 0.32)}" y="${headHeight + 55}">minutes; dashed: the least time that ${places} slots allow</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left * 2 + width} ${height}" role="img" aria-labelledby="title">
<title id="title">${count} videos: ${runs.map(([name, { minutes }]) => `${name} ${Math.round(minutes)} minutes`).join(', ')}</title>
<style>
text{font:13px system-ui,sans-serif;fill:#737d8c}.tick,.legend{font-size:11px}.tick{text-anchor:middle}.name{font-weight:600}
.video{fill:#3b82f6}.room{fill:#808890;fill-opacity:.2}.bound{stroke:#dc2626;stroke-dasharray:4 3}
</style>
${[...panels, ...boundLines, legend, ...ticks].join('\n')}
</svg>
`;
}

/**
 * The panel of one policy: a row for each pending job that the service allows, a bar for each
 * video.
 */
function panel(name: string, run: Run, top: number, x: (minutes: number) => number): string {
  const y = (row: number) => top + headHeight + row * rowHeight;
  const rows: number[] = Array.from({ length: places }, () => 0);
  const bars = [...run.videos]
    .sort((one, other) => one.from - other.from)
    .map(({ from, to }) => {
      const row = rows.findIndex((until) => until <= from);
      rows[row] = to;
      return `M${x(from)} ${y(row)}H${round(x(to) - 0.8)}v${rowHeight - 1}H${x(from)}z`;
    });
  const room = `<rect class="room" x="${left}" y="${y(0)}" width="${round(x(run.minutes) - left)}" height="${places * rowHeight}" rx="2"/>`;
  const text = `${Math.round(run.minutes)} minutes, ${run.calls} calls`;
  return `<text y="${top + 18}" x="${left}"><tspan class="name">${name}</tspan> ${text}</text>\n${room}\n<path class="video" d="${bars.join('')}"/>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
