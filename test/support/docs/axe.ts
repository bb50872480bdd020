import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns the findings of axe-core on a page, one line for each element. */
export async function problemsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>('axe.run(document)');
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, html }) => `${id}: ${help}: ${target.join(' ')} ${html.slice(0, 120)}`),
  );
}

/** `SCREENS=<folder>` keeps what was seen. */
export async function photograph(page: Page, name: string): Promise<void> {
  const screens = process.env['SCREENS'];
  if (screens) {
    mkdirSync(screens, { recursive: true });
    await page.screenshot({ path: join(screens, `${name}.png`) });
  }
}
