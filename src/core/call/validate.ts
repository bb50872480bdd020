import { findSimilar } from '../typos.js';
import { isRecord, withArticle } from '../values.js';
import type { FieldError } from '../errors.js';
import type { RawPage } from '../list/list.js';
import type { KnownFields, Notice, Route, RouteSchemas, Schema } from './route.js';

/** The schemas of a service by row, loaded when a call first needs them. */
export type SchemaMap = ReadonlyMap<Route, RouteSchemas>;

// Far more than a person reads, and more than a page of these services holds.
const maxIssues = 100;
const maxItems = 1_000;
// A response with more values is not checked as a whole. The check reads each value twice: first `isSmall()` counts
// the values, then the schema checks them.
const maxNodes = 5_000;
const maxNodesOfItem = maxNodes / 4;

/** One problem of a value, as zod reports it. */
interface Issue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly [fact: string]: unknown;
}

/** The problems of a request's body and query; empty if the request may be sent. */
export function findRequestProblems(
  schemas: RouteSchemas,
  body: unknown,
  query: unknown,
): readonly FieldError[] {
  const unknown = schemas.known && isRecord(body) ? findUnknownFields(body, schemas.known) : [];
  return [
    ...findProblems(schemas.body, body, unknown),
    ...findProblems(schemas.query, query ?? {}),
  ];
}

/**
 * The differences between a response and its document; empty if there are none. Of a list only a sample is
 * checked, unless `isThorough` is set. Values that are far larger than a page can be are not checked.
 */
export function findAnswerProblems(
  route: Route,
  schemas: RouteSchemas,
  value: unknown,
  isThorough: boolean,
): readonly FieldError[] {
  if (!route.returns.list) {
    return isSmall(value, maxNodes) ? findProblems(schemas.returns, value) : [];
  }
  const { items } = value as RawPage; // as: read by `readList()`
  const checked = isThorough ? items.slice(0, maxItems) : sample(items);
  return checked
    .filter((item) => isSmall(item, maxNodesOfItem))
    .flatMap((item) => findProblems(schemas.returns, item))
    .slice(0, maxIssues);
}

/**
 * The parts of a valid body that will have no effect. `warnings()` is called without rules here, because the client
 * has already bound its own rules to it, for example its reserved fields.
 */
export function findBodyNotices(
  schemas: RouteSchemas,
  body: unknown,
  isServiceRecord = false,
): readonly Notice[] {
  const { known } = schemas;
  const unknown =
    known && !isServiceRecord && isRecord(body) ? warnOfUnknownFieldsInBody(body, known) : [];
  return [...unknown, ...(schemas.warnings?.(body as never) ?? [])]; // as: the body passed this row's schema
}

function warnOfUnknownFieldsInBody(
  body: Record<string, unknown>,
  known: KnownFields,
): readonly Notice[] {
  const { items } = known;
  const list = items ? body[items.of] : undefined;
  const found: Notice[] = [
    ...misplacedOptions(body, known.names),
    ...warnOfUnknownFields(body, known),
  ];
  if (!items || !Array.isArray(list)) {
    return found;
  }
  const inItems = list.flatMap((item: object, index): readonly Notice[] => {
    const place = `${items.of}[${index}].`;
    return [
      ...misplacedOptions(item, items.names).map((one) => ({ ...one, field: place + one.field })),
      ...warnOfUnknownFields(item, items).map((warning) => warning.replace('`', `\`${place}`)),
    ];
  });
  return [...found, ...inItems];
}

/** Call options that callers put into the body by mistake. There they would have no effect. */
const optionNames = ['once', 'signal', 'timeout', 'deadline', 'retries', 'retry'];

/** The options of a call that were written among the fields of its body. */
export function misplacedOptions(body: object, names: readonly string[]): readonly FieldError[] {
  return findUnknownFields(body, { names })
    .filter(({ name }) => optionNames.includes(name))
    .map(({ name }) => ({
      field: name,
      message: `is an option of the call, not a field: pass it after the fields, as in \`{ ${name}: … }\``,
    }));
}

/** Warnings about a query: parameters that the document of this list does not show. */
export function findQueryWarnings({ knownQuery }: RouteSchemas, query: unknown): readonly string[] {
  // The next pages of a list repeat the query of the first page.
  const isFirst = isRecord(query) && query['cursor'] === undefined && query['page'] === undefined;
  return knownQuery && isFirst ? warnOfUnknownFields(query, knownQuery) : [];
}

/** The problems of a value by its schema; empty if it is valid, or if there is no schema. */
export function findProblems(
  schema: Schema<unknown> | undefined,
  value: unknown,
  unknown: readonly UnknownField[] = [],
): readonly FieldError[] {
  if (!schema) {
    return [];
  }
  const result = schema.safeParse(value);
  if (result.success) {
    return [];
  }
  const issues = (result.error?.issues ?? []) as readonly Issue[]; // as: zod documents it
  return issues
    .slice(0, maxIssues)
    .flatMap(flatten)
    .slice(0, maxIssues)
    .map((issue) => describe(issue, value, unknown));
}

/** The first item, the last, and two between them: the items of a list have the same form. */
function sample(items: readonly unknown[]): readonly unknown[] {
  const last = items.length - 1;
  const places = new Set([0, Math.floor(last / 3), Math.floor((2 * last) / 3), last]);
  return items.length <= places.size ? items : [...places].map((place) => items[place]);
}

/** Does the value contain at most `most` values? Stops reading beyond that. */
function isSmall(value: unknown, most: number): boolean {
  const open = [value];
  for (let seen = 0; open.length > 0; seen++) {
    if (seen + open.length > most) {
      return false;
    }
    const next = open.pop();
    if (Array.isArray(next)) {
      if (next.length > most) {
        return false;
      }
      open.push(...(next as unknown[]));
    } else if (isRecord(next)) {
      for (const name in next) {
        open.push(next[name]);
        if (open.length > most) {
          return false;
        }
      }
    }
  }
  return true;
}

// A union reports one list of issues for each branch. The branch that matched to the greatest depth is
// probably the intended one.
function flatten(issue: Issue): readonly Issue[] {
  const branches = issue['errors'];
  if (issue.code !== 'invalid_union' || !Array.isArray(branches) || branches.length === 0) {
    return [issue];
  }
  const deepest = (branches as Issue[][]) // as: zod documents it
    .map((branch) => branch.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })))
    .sort((a, b) => depthOf(b) - depthOf(a))[0];
  return deepest && depthOf(deepest) > issue.path.length ? deepest.flatMap(flatten) : [issue];
}

function depthOf(issues: readonly Issue[]): number {
  return issues.reduce((most, issue) => Math.max(most, issue.path.length), 0);
}

function describe(issue: Issue, root: unknown, unknown: readonly UnknownField[]): FieldError {
  const value = valueAt(root, issue.path);
  return {
    field: fieldNameOf(issue.path),
    message: describeRule(issue, value) + typoHint(issue, value, unknown),
    code: issue.code ?? 'invalid',
  };
}

// A required field that is missing is often present under a wrong name. The field `instead`, which may replace the
// required one, can be misspelled as well.
function typoHint(
  { path, instead }: Issue,
  value: unknown,
  unknown: readonly UnknownField[],
): string {
  const [field] = path;
  if (value !== undefined || path.length !== 1) {
    return '';
  }
  const wanted = [field, instead].filter((name) => typeof name === 'string');
  for (const name of wanted) {
    const similar = unknown.find(
      (one) => one.meant === name || findSimilar(one.name, [name]) === name,
    );
    if (similar) {
      return `; \`${similar.name}\` is not a field. Did you mean \`${name}\`?`;
    }
  }
  const [first] = unknown;
  return first === undefined ? '' : `; \`${first.name}\` is not a field`;
}

function describeRule(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'too_big':
      return describeBound('at most', issue['maximum'], value);
    case 'too_small':
      return value === ''
        ? 'must not be empty'
        : describeBound('at least', issue['minimum'], value);
    case 'invalid_type':
      return value === undefined
        ? 'is required'
        : `must be ${withArticle(String(issue['expected']))}; got ${describeValue(value)}`;
    case 'invalid_value':
      return value === undefined
        ? 'is required'
        : `must be ${joinValues(issue['values'])}; got ${describeWord(value, issue['values'])}`;
    case 'invalid_format':
      return `must be ${describeFormat(issue['format'])}; got ${describeValue(value)}`;
    case 'custom':
      return issue.message;
    default:
      return value === undefined ? 'is required' : `is not valid; got ${describeValue(value)}`;
  }
}

function describeBound(side: string, size: unknown, value: unknown): string {
  const number = String(size); // as: bounds are numbers
  if (typeof value === 'string') {
    return `must be ${side} ${number} characters; got ${Array.from(value).length}`; // as the schemas count
  }
  if (Array.isArray(value)) {
    return `takes ${side} ${number} items; got ${value.length}`;
  }
  return `must be ${side} ${number}; got ${describeValue(value)}`;
}

function describeFormat(name: unknown): string {
  if (name === 'email') {
    return 'an email address';
  }
  return name === 'url' ? 'an absolute URL' : 'of the right form';
}

function joinValues(values: unknown): string {
  const list = Array.isArray(values) ? values.map((value) => `"${String(value)}"`) : [];
  return list.length === 1 ? list.join('') : `one of ${list.join(', ')}`;
}

// A typo of a documented word is shown, because it is not private data. A longer text may be.
function describeWord(value: unknown, words: unknown): string {
  const texts = Array.isArray(words) ? words.map(String) : [];
  const meant = typeof value === 'string' ? findSimilar(value, texts) : undefined;
  return typeof value === 'string' && meant !== undefined && value.length <= meant.length + 2
    ? `"${value}". Did you mean "${meant}"?`
    : describeValue(value);
}

// Reports lengths, never contents: an error must not reveal private data.
function describeValue(value: unknown): string {
  if (value === null) {
    return 'null';
  }
  if (typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  if (typeof value === 'string') {
    return `a text of ${value.length} characters`;
  }
  if (Array.isArray(value)) {
    return `${value.length} items`;
  }
  return typeof value === 'undefined' ? 'nothing' : withArticle(typeof value);
}

function fieldNameOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) {
    return 'body';
  }
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : `${index > 0 ? '.' : ''}${String(step)}`,
    )
    .join('');
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      isRecord(value) || Array.isArray(value) ? Reflect.get(value, step) : undefined,
    root,
  );
}

/** A field that a document does not list, and the field that was probably meant. */
interface UnknownField {
  readonly name: string;
  readonly meant: string | undefined;
}

/** The fields of a body that its document does not list. */
function findUnknownFields(
  body: object,
  { names, aliases = {} }: Omit<KnownFields, 'items'>,
): readonly UnknownField[] {
  return Object.entries(body)
    .filter(([name, value]) => value !== undefined && !names.includes(name))
    .map(([name]) => name)
    .map((name) => ({
      name,
      meant: Object.hasOwn(aliases, name) ? aliases[name] : findSimilar(name, names),
    }));
}

/** Warnings about fields that the document does not list: they are sent, but may have no effect. */
function warnOfUnknownFields(body: object, known: Omit<KnownFields, 'items'>): readonly string[] {
  return findUnknownFields(body, known).map(({ name, meant }) => {
    const { custom } = known;
    const place = custom
      ? ` Custom fields go into \`${custom}\`: \`${custom}: { ${name}: … }\`.`
      : '';
    const hint = meant === undefined ? place : ` Did you mean \`${meant}\`?`;
    return `\`${name}\` is not a documented field and may have no effect.${hint}`;
  });
}
