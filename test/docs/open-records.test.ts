import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { mediaBehaviors, messagingBehaviors } from 'postreel/testing';
import { derived } from '../../scripts/open-records/index.js';
import { openRecords as rows } from '../../scripts/open-records/records.js';
import { readSources } from '../support/sources.js';

const sources = readSources()
  .map(({ path }) => path)
  .filter((path) => !path.startsWith('testing/'))
  .map((path) =>
    ts.createSourceFile(path, readFileSync(`src/${path}`, 'utf8'), ts.ScriptTarget.ES2022, true),
  );

const [records = '', values = ''] = readFileSync('docs/open-records.md', 'utf8')
  .split('\n## Records\n')[1]!
  .split('\n## ');

describe('docs/open-records.md', () => {
  it('is what the code says: npx tsx scripts/open-records/index.ts', async () => {
    const page = readFileSync('docs/open-records.md', 'utf8');
    expect(await derived(page)).toBe(page);
  });

  it('has a setting of the fakes for every open record', () => {
    const known = new Set([...Object.keys(messagingBehaviors), ...Object.keys(mediaBehaviors)]);
    const listed = Object.values(rows).flat();
    for (const { name, settings } of listed) {
      expect(settings.length, name).toBeGreaterThan(0);
      expect(
        settings.filter((setting) => !known.has(setting)),
        name,
      ).toEqual([]);
    }
    expect(listed.map(({ name }) => name).sort()).toEqual(openRecords());
  });

  it('names every open record, and nothing else', () => {
    expect(namedIn(records)).toEqual(openRecords());
  });

  it('names every open union, and nothing else', () => {
    expect(namedIn(values)).toEqual(openUnions());
  });
});

/** What stands in the first column of the tables. */
function namedIn(part: string): string[] {
  return [...part.matchAll(/^\| `([\w.]+)`/gm)].map(([, name = '']) => name).sort();
}

/** Interfaces that extend `OpenRecord` or `OpenInput`, themselves or by way of another. */
function openRecords(): string[] {
  // Two services may have an interface of one name.
  const bases = new Map<string, string[]>();
  for (const { name, heritageClauses = [] } of interfaces()) {
    const own = heritageClauses.flatMap(({ types }) =>
      types.map((type) => type.expression.getText()),
    );
    bases.set(name.text, [...(bases.get(name.text) ?? []), ...own]);
  }
  const isOpen = (name: string): boolean =>
    ['OpenRecord', 'OpenInput'].includes(name) || (bases.get(name) ?? []).some(isOpen);
  return [...bases.keys()].filter((name) => name !== 'OpenInput' && isOpen(name)).sort();
}

/** Types and fields that take any text beside the values they name. */
function openUnions(): string[] {
  const fields = interfaces().flatMap(({ name, members }) =>
    members
      .filter((member) => takesAnyText(member))
      .map((member) => `${name.text}.${member.name?.getText() ?? ''}`),
  );
  const types = sources.flatMap((source) =>
    source.statements
      .filter(ts.isTypeAliasDeclaration)
      .filter((type) => takesAnyText(type))
      .map(({ name }) => name.text),
  );
  return [...fields, ...types].sort();
}

function interfaces(): ts.InterfaceDeclaration[] {
  return sources.flatMap((source) => source.statements.filter(ts.isInterfaceDeclaration));
}

function takesAnyText(node: ts.Node): boolean {
  return node.getText().includes('(string & {})');
}
