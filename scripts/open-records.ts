/** Writes the tables of `docs/open-records.md` from the types: `npx tsx scripts/open-records.ts`. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import ts from 'typescript';
import { mediaBehaviors, messagingBehaviors, type Table } from '../src/testing/index.js';

const page = 'docs/open-records.md';

/** The page with its tables as the code has them; the sentences around the tables stay. */
export async function derive(text: string): Promise<string> {
  const sources = readSources();
  const tables = {
    records: recordTable(sources.flatMap(interfacesOf)),
    values: valueTable(sources),
    settings: settingTables(),
  };
  const whole = Object.entries(tables).reduce(
    (before, [name, table]) => replaceTable(before, name, table),
    text,
  );
  return format(whole, { parser: 'markdown', printWidth: 100, singleQuote: true });
}

/** The published types; those of the fakes are not part of the contract. */
function readSources(): ts.SourceFile[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('testing/'))
    .sort()
    .map((path) => {
      const text = readFileSync(`src/${path}`, 'utf8');
      return ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
    });
}

function interfacesOf(source: ts.SourceFile): ts.InterfaceDeclaration[] {
  return source.statements.filter(ts.isInterfaceDeclaration);
}

const bases = ['OpenRecord', 'OpenInput'];

/** Interfaces that extend an open base, directly or through another interface. */
function recordTable(interfaces: readonly ts.InterfaceDeclaration[]): string {
  const basesOf = (name: string) =>
    interfaces
      .filter((one) => one.name.text === name)
      .flatMap(({ heritageClauses = [] }) => heritageClauses.flatMap(({ types }) => types))
      .map((type) => type.expression.getText());
  const isOpen = (name: string): boolean => bases.includes(name) || basesOf(name).some(isOpen);
  const rows = interfaces
    .filter(({ name }) => !bases.includes(name.text) && isOpen(name.text))
    .map((one) => line([`\`${one.name.text}\``, sentenceOf(one)]));
  return [line(['type', 'what it is']), line(['-', '-']), ...new Set(rows)].join('\n');
}

/** Fields and types that accept any text next to the values that they name. */
function valueTable(sources: readonly ts.SourceFile[]): string {
  const fields = sources
    .flatMap(interfacesOf)
    .flatMap(({ name, members }) =>
      members
        .filter(acceptsAnyText)
        .map((member) => [`${name.text}.${member.name?.getText() ?? ''}`, member] as const),
    );
  const aliases = sources
    .flatMap(({ statements }) => statements.filter(ts.isTypeAliasDeclaration))
    .filter(acceptsAnyText)
    .map((type) => [type.name.text, type] as const);
  const rows = [...fields, ...aliases].map(([name, node]) =>
    line([`\`${name}\``, valuesOf(node).join(', ')]),
  );
  return [line(['type', 'values shown']), line(['-', '-']), ...rows].join('\n');
}

function acceptsAnyText(node: ts.Node): boolean {
  return node.getText().includes('(string & {})');
}

/** The other members of the union: texts, or the name of a type that has them. */
function valuesOf(node: ts.Node): string[] {
  const [, union = ''] = /[:=]([^:=]*)\(string & \{\}\)/.exec(node.getText()) ?? [];
  return (union.match(/'[^']+'|\w+/g) ?? []).map((value) => `\`${value.replaceAll("'", '')}\``);
}

/** The first sentence of a declaration's documentation. */
function sentenceOf(node: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = ts.getTextOfJSDocComment(comment?.comment) ?? '';
  const [sentence = ''] = text.replace(/\s+/g, ' ').split(/(?<=\.)\s/);
  return sentence.replaceAll('|', '\\|');
}

function settingTables(): string {
  const messaging: Table = messagingBehaviors;
  const media: Table = mediaBehaviors;
  const isShared = (name: string) => messaging[name] === media[name];
  const only = (table: Table, wanted: boolean) =>
    Object.entries(table).filter(([name]) => isShared(name) === wanted);
  return [
    '### Of both fakes',
    settingTable(only(messaging, true)),
    '### Of `createFakeMessaging()`',
    settingTable(only(messaging, false)),
    '### Of `createFakeMedia()`',
    settingTable(only(media, false)),
  ].join('\n\n');
}

function settingTable(settings: readonly (readonly [string, Table[string]])[]): string {
  const rows = settings.map(([name, { values, what, silent }]) =>
    line([`\`${name}\``, values.map((value) => `\`${value}\``).join(', '), what, silent]),
  );
  const head = line([
    'setting',
    'values, the default first',
    'what differs',
    'where the document is silent',
  ]);
  return [head, line(['-', '-', '-', '-']), ...rows].join('\n');
}

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

function replaceTable(text: string, name: string, table: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) {
    throw new Error(`${page} has no ${start} … ${end}.`);
  }
  return `${text.slice(0, from)}${start}\n\n${table}\n\n${text.slice(to)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(page, await derive(readFileSync(page, 'utf8')));
}
