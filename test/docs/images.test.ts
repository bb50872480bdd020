import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { drawing, protocol, sourceOf } from '../../scripts/draw/workflow.js';

it('shows the current drawing of the workflow', () => {
  const picture = readFileSync('docs/images/onboarding.svg', 'utf8');
  expect(picture.startsWith(sourceOf(drawing))).toBe(true);
  expect(picture).toContain('isPro');
  expect(readFileSync('docs/workflows.md', 'utf8')).toContain('](./images/onboarding.svg)');
});

it('shows the states of a tracked event as on their page', () => {
  const picture = readFileSync('docs/images/tracker-protocol.svg', 'utf8');
  expect(picture.startsWith(sourceOf(protocol()))).toBe(true);
  expect(picture).toContain('Claimed');
});

it.each([
  ['call-life', 'errors', ['done', 'rejected', 'not-sent', 'unknown']],
  ['job-states', 'waiting', ['queued', 'processing', 'success', 'error', 'canceled']],
])('draws every state of %s, in light and in dark', (name, page, states) => {
  const picture = readFileSync(`docs/images/${name}.svg`, 'utf8');
  const named = [...picture.matchAll(/class="name"[^>]*>([^<]+)</g)].map(([, text]) => text);
  expect(named).toEqual(expect.arrayContaining(states));
  expect(picture).toContain('prefers-color-scheme: dark');
  expect(readFileSync(`docs/${page}.md`, 'utf8')).toContain(`](images/${name}.svg)`);
});
