/**
 * Draws the pictures of the docs: `docs/images/onboarding.svg`, a workflow, and
 * `docs/images/tracker-protocol.svg`, the states of a tracked event. Mermaid is not installed here; get
 * its script once: `npm pack mermaid`, unpack it, then
 * `npx tsx scripts/draw/workflow.ts package/dist/mermaid.min.js`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineWorkflow, toMermaid, where } from '../../src/index.js';
import { openChromium } from '../projects/browser.js';

/** The workflow of `docs/workflows.md`, with a contact that has reached its condition. */
export const drawing = toMermaid(
  defineWorkflow({
    name: 'Onboarding',
    trigger: { event: 'signed_up' },
    steps: {
      welcome: { type: 'SEND_EMAIL', template: 'tpl_welcome', next: 'wait' },
      wait: { type: 'DELAY', amount: 2, unit: 'days', next: 'isPro' },
      isPro: { type: 'CONDITION', if: where('data.plan').equals('pro'), yes: 'done', no: 'offer' },
      offer: { type: 'SEND_EMAIL', subject: 'Go pro', body: '<p>Only today</p>', next: 'done' },
      done: { type: 'EXIT' },
    },
  }),
  { visited: ['welcome', 'wait'], current: 'isPro' },
);

/** The states of an event, as `docs/tracker-protocol.md` has them. */
export function protocol(): string {
  const text = readFileSync('docs/tracker-protocol.md', 'utf8');
  return /^```mermaid\n([\s\S]*?)^```/m.exec(text)?.[1] ?? '';
}

/** The comment by which a picture says what it was drawn from. */
export const sourceOf = (text: string) => `<!--\n${text.replaceAll('--', '- -')}-->\n`;

async function draw(mermaid: string): Promise<void> {
  const browser = await openChromium();
  try {
    const page = await browser.newPage();
    await page.addScriptTag({ path: mermaid });
    for (const [name, text] of [
      ['onboarding', drawing],
      ['tracker-protocol', protocol()],
    ] as const) {
      const svg = await page.evaluate(
        `mermaid.initialize({ htmlLabels: false, flowchart: { htmlLabels: false } });
         mermaid.render('workflow', ${JSON.stringify(text)}).then(({ svg }) => svg)`,
      );
      writeFileSync(`docs/images/${name}.svg`, `${sourceOf(text)}${smaller(String(svg))}\n`);
    }
  } finally {
    await browser.close();
  }
}

/** Without what only Mermaid itself reads, and with as many digits as one can see. */
function smaller(svg: string): string {
  return svg
    .replace(/ data-[\w-]+="[^"]*"/g, '')
    .replace(/\d+\.\d{3,}/g, (number) => String(Math.round(Number(number) * 10) / 10));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await draw(process.argv[2] ?? 'package/dist/mermaid.min.js');
}
