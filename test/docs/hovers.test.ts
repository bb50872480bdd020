import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { readSources } from '../support/sources.js';

const times = /timeout|deadline|interval|maxAge|expires/i;
const inside = /^(agents|cli|testing|transport|tracker\/queue|media\/queue\/(steps|estimate))\//;
const unit = /millisecond|second|minute/i;

it('every number that is a time has a unit, in its name or in its hover', () => {
  const fields = readSources()
    .filter(({ path }) => !inside.test(path))
    .flatMap(({ path }) => numericFields(path))
    .filter(({ name }) => times.test(name));
  expect(fields.length).toBeGreaterThan(10);
  const silent = fields.filter(({ name, text }) => !name.endsWith('Ms') && !unit.test(text));
  expect(silent.map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
});

/** The fields of exported interfaces that may be a number, with their comments. */
function numericFields(path: string) {
  const text = readFileSync(`src/${path}`, 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  return source.statements
    .filter(ts.isInterfaceDeclaration)
    .filter(({ modifiers = [] }) =>
      modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword),
    )
    .flatMap(({ members }) => [...members])
    .filter(ts.isPropertySignature)
    .filter(({ type }) => /\bnumber\b/.test(type?.getText() ?? ''))
    .map((member) => ({ path, name: member.name.getText(), text: member.getFullText() }));
}
