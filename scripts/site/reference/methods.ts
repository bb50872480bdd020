import {
  ConditionalType,
  ReferenceType,
  ReflectionKind,
  ReflectionType,
  UnionType,
  type DeclarationReflection,
  type SignatureReflection,
  type SomeType,
} from 'typedoc';
import { format } from 'prettier';
import type { Route } from '../../../src/contract/route.js';
import { rowsOf, type Row } from '../../openapi/rows.js';
import { exampleOf } from './examples.js';
import { signature } from './types.js';
import { fieldTable, summaryOf, tagsOf, type AddressOf } from './text.js';

const rows = new Map(rowsOf().map((row) => [row.sdk, row]));
const keys: Readonly<Record<Route['key'], string>> = {
  secret: 'secret key',
  'public-or-secret': 'public or secret key',
  none: 'no key needed',
  'secret-or-session': 'secret key or session',
};

/** A class with the words that lead to it, such as `messaging.contacts.fields`. */
export interface Resource {
  readonly path: string;
  readonly reflection: DeclarationReflection;
}

/** The class of a client and those behind its fields. */
export function resourcesOf(path: string, reflection: DeclarationReflection): Resource[] {
  const inner = (reflection.children ?? [])
    .filter(({ kind }) => kind === ReflectionKind.Property)
    .map(({ name, type }) => ({ name: `${path}.${name}`, target: targetOf(type) }))
    .filter(({ name }) => [...rows.keys()].some((sdk) => sdk.startsWith(`${name}.`)));
  return [
    { path, reflection },
    ...inner.flatMap(({ name, target }) => (target ? resourcesOf(name, target) : [])),
  ];
}

/** Every method of a resource: request, key, rules, fields, errors and an example. */
export async function describeResource(one: Resource, addressOf: AddressOf): Promise<string> {
  const methods = (one.reflection.children ?? []).filter(
    ({ kind }) => kind === ReflectionKind.Method,
  );
  const sections = methods.map((method) => describeMethod(one.path, method, addressOf));
  return [summaryOf(one.reflection.comment, addressOf), ...(await Promise.all(sections))].join(
    '\n\n',
  );
}

/** The search knows a method by its whole name; the list beside the page shows the end of it. */
async function describeMethod(
  path: string,
  method: DeclarationReflection,
  addressOf: AddressOf,
): Promise<string> {
  const sdk = `${path}.${method.name}`;
  const row = rows.get(sdk);
  const signatures = method.signatures ?? [];
  const comment = signatures.find((one) => one.comment)?.comment;
  const example =
    tagsOf(comment, '@example', addressOf)[0] ?? (row && (await codeOf(exampleOf(row))));
  return [
    `### <span class="ignore-header">${path}.</span>${method.name}() {#${anchorOf(sdk)}}`,
    row === undefined ? '' : request(row),
    summaryOf(comment, addressOf),
    block(signatures.map((one) => signature(one, `${path}.`)).join('\n')),
    ...inputs(signatures, addressOf),
    errors(row, tagsOf(comment, '@throws', addressOf)),
    example === undefined ? '' : block(example.replace(/^```\w*\n|\n```$/g, '')),
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** Where a method stands in its page. */
export function anchorOf(sdk: string): string {
  return sdk.replaceAll('.', '-').toLowerCase();
}

function request({ route }: Row): string {
  const repeat = route.repeatable ? 'retried when it is safe' : 'never sent twice';
  return `\`${route.method} ${route.path}\` · ${keys[route.key]} · ${repeat}`;
}

/** The fields of the first object among the parameters. */
function inputs(signatures: readonly SignatureReflection[], addressOf: AddressOf): string[] {
  const parameters = signatures.flatMap(({ parameters: own }) => own ?? []);
  const targets = parameters
    .filter(({ name }) => name !== 'options')
    .flatMap(({ type }) => targetOf(type) ?? []);
  return targets.slice(0, 1).flatMap((target) => fieldTable(fieldsOf(target), addressOf) ?? []);
}

function fieldsOf(target: DeclarationReflection): DeclarationReflection[] {
  return (target.children ?? []).filter(({ kind }) => kind === ReflectionKind.Property);
}

function targetOf(type: SomeType | undefined): DeclarationReflection | undefined {
  if (type instanceof UnionType) {
    return type.types.map(targetOf).find((target) => target !== undefined);
  }
  if (type instanceof ReflectionType) {
    return type.declaration;
  }
  if (type instanceof ConditionalType) {
    return targetOf(type.falseType); // with types for custom fields: the whole class
  }
  const target = type instanceof ReferenceType ? type.reflection : undefined;
  return target?.isDeclaration() ? target : undefined;
}

function errors(row: Row | undefined, thrown: readonly string[]): string {
  const own = thrown.map((text) => `Throws ${text}${text.endsWith('.') ? '' : '.'}`);
  if (row === undefined) {
    return own.join(' ');
  }
  const { route, schemas } = row;
  const possible = [
    schemas.body || schemas.query ? '`InvalidRequestError` before the network' : '',
    route.path.includes('{') ? '`NotFoundError` for an unknown id' : '',
    route.repeatable ? '' : 'any error with the outcome `unknown` when the answer is lost',
  ].filter(Boolean);
  const named = possible.length === 0 ? '' : `Rejects with ${possible.join(', ')}, and with `;
  const rest = `${named === '' ? 'Rejects with ' : ''}[the errors of every call](../../errors.md#classes).`;
  return [`${named}${rest}`, ...own].join(' ');
}

async function codeOf(text: string): Promise<string> {
  const formatted = await format(text, { parser: 'typescript', singleQuote: true, printWidth: 90 });
  return formatted.trimEnd();
}

function block(code: string): string {
  return `\`\`\`typescript\n${code}\n\`\`\``;
}
