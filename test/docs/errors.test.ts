import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as errors from '../../src/index.js';
import { routes as media } from '../../src/media/routes.js';
import { routes as messaging } from '../../src/messaging/routes.js';
import type { Route } from '../../src/core/call/route.js';

const text = readFileSync('docs/errors.md', 'utf8');
const rows = [...rowsOf(messaging), ...rowsOf(media)];

describe('docs/errors.md', () => {
  it('names every error class', () => {
    const classes = Object.keys(errors).filter((name) => name.endsWith('Error'));
    const named = section('Classes').matchAll(/^\| `(\w+Error)`/gm);
    expect([...named].map(([, name]) => name).sort()).toEqual(
      classes.filter((name) => !name.startsWith('is')).sort(),
    );
  });

  it('names every call that is never repeated automatically', () => {
    const table = section('Retries').split('never repeated')[1]!.split('```')[0]!;
    expect(callsIn(table)).toEqual(namesOf((row) => !row.repeatable));
  });
});

function section(title: string): string {
  return text.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;
}

function callsIn(part: string): string[] {
  return [...part.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name).sort();
}

function namesOf(isWanted: (row: Route) => boolean): string[] {
  return rows
    .filter(({ row }) => isWanted(row))
    .map(({ name }) => name)
    .sort();
}

function rowsOf(table: object, prefix = ''): { name: string; row: Route }[] {
  return Object.entries(table).flatMap(([key, value]: [string, object]) =>
    'method' in value
      ? [{ name: prefix + key, row: value as Route }] // a row has a method
      : rowsOf(value, `${prefix}${key}.`),
  );
}
