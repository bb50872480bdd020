import { invalidRequest } from '../../core/errors.js';
import type { DataOptions } from '../../core/types.js';
import { isReserved, reservedKeys } from '../shared/data.js';
import type { ImportAllOptions } from '../contacts.types.js';
import { recordFields } from '../shared/read-record.js';

/** The `read` function of a column: turns the text of a cell into a value. */
type ReadCell = (text: string) => unknown;

/** The field that a column becomes, and how the text of its cells is read. */
export interface ColumnTarget {
  readonly field: string;
  readonly read?: ReadCell | undefined;
  /**
   * Whether the target is `not:subscribed`, which the command line and the tool for agents accept: a cell with a yes
   * or a date means that the contact is not subscribed.
   */
  readonly isInverted?: boolean;
}

/** The rules of an import for the columns of a file or the keys of a row. */
export interface ColumnRules {
  /** Targets by the names of columns, trimmed and in lower case; `null` drops a column. */
  readonly named: ReadonlyMap<string, ColumnTarget | null>;
  readonly data: DataOptions;
  readonly warn: (message: string) => void;
  /** Whether an option says who is subscribed, so that no column is needed for it. */
  readonly isStated: boolean;
  /** Whether a column may become a custom field although its name can only mean the subscription. */
  readonly allowsUnclear?: boolean;
}

/** The columns that are imported. All indexes are indexes in a record of the file, from 0. */
export interface Columns {
  /** The name of each column in a reported row. */
  readonly names: readonly string[];
  /** The fields that are imported, without `subscribed`. */
  readonly fields: readonly string[];
  readonly indexes: readonly number[];
  /** The `read` function of each field, in the order of `fields`; `undefined` if every text is sent unchanged. */
  readonly readers: readonly (ReadCell | undefined)[] | undefined;
  /** Which fields `columns` does not name, in the order of `fields`. */
  readonly isUnnamed: readonly boolean[];
  /** The column of the subscription: its place, or -1. */
  readonly subscribedIndex: number;
  readonly subscription: ColumnTarget | undefined;
  /** Whether the column with the subscription is called `subscribed`. */
  readonly hasOwnSubscription: boolean;
  /** Whether the rows are records that were read, as `postreel contacts export` writes them. */
  readonly isRecord: boolean;
  /** The indexes of columns without a name. A value in such a column fails the row: it would be lost. */
  readonly nameless: readonly number[];
}

/** The key under which papaparse puts the cells beyond the header. Failed rows have such cells under it too. */
export const extraCells = '__parsed_extra';

const recordKeys = ['email', 'subscribed', 'id', 'createdat', 'updatedat'];

// Column names of other programs' exports, without spaces and punctuation, that can only mean the subscription.
const subscriptionNames = new Set([
  ...['unsubscribed', 'isunsubscribed', 'unsubscribedat', 'unsubscribedate', 'unsubscribeddate'],
  ...['unsubscribetime', 'unsubtime', 'unsubscribedfromallemail', 'unsubscribedfromemails'],
  ...['unsubscribedon', 'globalunsubscribe', 'globallyunsubscribed', 'portalunsubscribe'],
  ...['unsubscribe', 'unsub', 'unsubreason', 'unsubscribereason'],
  ...['optout', 'isoptout', 'optedout', 'isoptedout', 'hasoptedout', 'optedoutat'],
  ...['optoutdate', 'optouttime', 'emailoptout', 'emailoptedout', 'hasoptedoutofemail'],
  ...['optedoutofemail', 'hsemailoptout', 'emailblacklisted', 'isblacklisted', 'blacklisted'],
  ...['donotemail', 'donotmail', 'donotcontact', 'donotsend', 'suppressed', 'emailsuppressed'],
  ...[
    'acceptsmarketing',
    'acceptsemailmarketing',
    'buyeracceptsmarketing',
    'emailmarketingconsent',
  ],
  ...['emailconsent', 'marketingconsent', 'optin', 'optedin', 'isoptedin', 'emailoptin'],
  ...['marketingoptin', 'newsletteroptin', 'issubscribed', 'subscribedtoemails'],
  ...['emailsubscribed', 'emailsubscriptionstatus'],
]);

/** Whether a column of this name can only mean the subscription. */
export function isSubscriptionName(name: string): boolean {
  const normalized = normalizeName(name);
  return subscriptionNames.has(normalized) || /^optedoutofemail/.test(normalized);
}

/** Does a yes, or a date, in a column with this name mean that the contact has left? */
export function isUnsubscribedName(name: string): boolean {
  return (
    isSubscriptionName(name) &&
    /unsub|opt(ed)?out|blacklist|donot|suppress/.test(normalizeName(name))
  );
}

function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '');
}

/** Reads the option `columns`. */
export function parseColumnsOption(
  given: ImportAllOptions['columns'] = {},
): ReadonlyMap<string, ColumnTarget | null> {
  const named = new Map<string, ColumnTarget | null>();
  for (const [column, value] of Object.entries(given) as [string, unknown][]) {
    const key = keyOf(column);
    const target = value === null ? null : parseTarget(value);
    if (target === undefined) {
      throw invalidColumns(
        `\`columns\` must give "${column}" the name of a field, or \`null\` to drop it, or \`{ field, read }\` with a function that reads the text of a cell`,
      );
    }
    if (named.has(key)) {
      throw invalidColumns(`\`columns\` names "${column.trim()}" twice`);
    }
    named.set(key, target);
  }
  return named;
}

function parseTarget(value: unknown): ColumnTarget | undefined {
  const { field, read } = (typeof value === 'string' ? { field: value } : Object(value)) as {
    field?: unknown;
    read?: unknown;
  };
  const isRead = typeof value === 'string' || typeof read === 'function';
  if (typeof field !== 'string' || field.trim() === '' || !isRead) {
    return undefined;
  }
  if (keyOf(field) === 'not:subscribed') {
    return { field: 'subscribed', isInverted: true };
  }
  return { field: fieldOf(field.trim()), read: read as ReadCell | undefined }; // a function, as checked above
}

/**
 * Finds the field of each column. Throws if the field of a column is uncertain, or if a column that `columns`
 * names is missing. `dataNames` are the fields of a row's `data`: they follow the keys of the row.
 */
export function columnsOf(
  header: readonly string[],
  rules: ColumnRules,
  isFile: boolean,
  dataNames: readonly string[] = [],
): Columns {
  const names = makeUnique(header, rules.warn);
  if (isFile) {
    requireNamed(names, rules);
  }
  const keys = new Set(names.map(keyOf));
  const isRecord = recordKeys.every((key) => keys.has(key));
  const targets = names.map((name) => targetOf(name, rules, isRecord));
  const found = targets.some((target) => target?.field === 'email')
    ? -1
    : findEmailColumn(names, targets, isFile);
  const fields = targets.map((target, at) => (at === found ? 'email' : (target?.field ?? null)));
  const twice = fields.find((field, at) => field && fields.indexOf(field) < at);
  if (twice) {
    throw invalidColumns(
      `Two columns map to the field \`${twice}\`. Rename one of them, or drop it: \`columns: { "…": null }\`. ${joinNames(names)}`,
    );
  }
  if (isFile) {
    requireStatement(names, rules);
  }
  requireClear(names, rules);
  requireFreeNames(dataNames, fields);
  fields.push(...dataNames);
  for (const field of fields) {
    warnReserved(field, rules);
  }
  const subscribedIndex = fields.indexOf('subscribed');
  const indexes = fields.flatMap((field, at) => (field && at !== subscribedIndex ? [at] : []));
  const readers = indexes.map((at) => targets[at]?.read);
  const isUnnamed = indexes.map(
    (at) => at >= names.length || !rules.named.has(keyOf(names[at] ?? '')),
  );
  const hasOwnSubscription = keyOf(names[subscribedIndex] ?? '') === 'subscribed';
  return {
    names: [...names, ...dataNames],
    indexes,
    fields: indexes.map((at) => fields[at] ?? ''),
    readers: readers.some((read) => read !== undefined) ? readers : undefined,
    isUnnamed,
    subscribedIndex,
    subscription: targets[subscribedIndex] ?? undefined,
    hasOwnSubscription,
    isRecord: isRecord && hasOwnSubscription,
    nameless: fields.flatMap((field, at) => (field === '' ? [at] : [])),
  };
}

/** Checks the keys of the first rows. Throws if a column of `columns`, or the subscription, is missing or unclear. */
export function requireKeys(names: readonly string[], rules: ColumnRules): void {
  requireNamed(names, rules);
  requireStatement(names, rules);
  requireClear(names, rules);
}

/** Proposes an entry of `columns` for a column with other words than `subscribed` accepts. */
export function proposeRead(name: string): string {
  return `\`columns: { "${name}": ${readWord} }\``;
}

/** Refuses columns of the option `columns` that are missing. */
function requireNamed(names: readonly string[], { named }: ColumnRules): void {
  const present = new Set(names.map(keyOf));
  const missing = [...named.keys()].find((key) => !present.has(key));
  if (missing !== undefined) {
    throw invalidColumns(
      `\`columns\` names "${missing}", but there is no such column. ${joinNames(names)}`,
    );
  }
}

/**
 * The columns whose names can only mean the subscription, and that `columns` does not name. A column of people who
 * have left is unclear as a plain `subscribed` too: its yes would subscribe them.
 */
export function findUnclearColumns(
  names: readonly string[],
  named: ColumnRules['named'],
): readonly string[] {
  return names.filter((name) => {
    const target = named.get(keyOf(name));
    if (target === undefined) {
      return isSubscriptionName(name);
    }
    const isPlain = target?.field === 'subscribed' && !target.read && !target.isInverted;
    return isPlain && isUnsubscribedName(name);
  });
}

/** A target for a column whose yes, or whose date, means that the contact has left. */
const readUnsubscribed =
  "{ field: 'subscribed', read: (text) => ['', 'no', 'false', '0'].includes(text.toLowerCase()) }";

/** A target for a column of words. */
const readWord = "{ field: 'subscribed', read: (text) => text === '…' }";

/** Refuses a column whose name can only mean the subscription, until `columns` names it. */
function requireClear(names: readonly string[], { named, allowsUnclear }: ColumnRules): void {
  const [first] = allowsUnclear ? [] : findUnclearColumns(names, named);
  if (first !== undefined) {
    const isUnsubscribed = isUnsubscribedName(first);
    const meaning = isUnsubscribed
      ? `\`"${first}": ${readUnsubscribed}\`, since its yes, or its date, means that somebody has left (\`read\` returns true for a person who is subscribed)`
      : `\`"${first}": 'subscribed'\` if its yes means subscribed, or \`"${first}": ${readWord}\` if it has other words (\`read\` returns true for a person who is subscribed)`;
    throw invalidColumns(
      `The column "${first}" says who is subscribed, or who is not. Name it in \`columns\`: ${meaning}. \`"${first}": '…'\` keeps it as a custom field, and \`"${first}": null\` drops it. ${joinNames(names)}`,
    );
  }
}

/** Throws if neither an option nor a column says who is subscribed. */
function requireStatement(names: readonly string[], { named, isStated }: ColumnRules): void {
  const isSubscribed = (name: string) => {
    const target = named.get(keyOf(name));
    return (target === undefined ? keyOf(name) : target?.field) === 'subscribed';
  };
  if (isStated || names.some(isSubscribed)) {
    return;
  }
  const unclear = findUnclearColumns(names, named);
  const unsubscribedColumn = unclear.find(isUnsubscribedName) ?? '…';
  const subscribedColumn = unclear.find((name) => !isUnsubscribedName(name)) ?? '…';
  const status = names.find(
    (name) => unclear.length === 0 && normalizeName(name).endsWith('status'),
  );
  throw invalidColumns(
    `This import does not say who is subscribed. Say it in one of three ways. \`newContacts: 'subscribed'\` or \`newContacts: 'unsubscribed'\`: existing contacts keep their state, and new ones get this one. A column \`subscribed\`: \`columns: { "${subscribedColumn}": 'subscribed' }\` if its yes means subscribed, \`columns: { "${status ?? '…'}": { field: 'subscribed', read: (text) => text.toLowerCase() === 'active' } }\` if its word "active" means subscribed, or \`columns: { "${unsubscribedColumn}": ${readUnsubscribed} }\` if its yes, or a date in it, means that somebody has left. \`subscribed: true\` or \`subscribed: false\`: for every row, existing contacts included. ${joinNames(names)}`,
  );
}

/** Returns the target of `columns` that becomes `subscribed`. It applies to rows without that key, too. */
export function subscriptionTarget({ named }: ColumnRules): ColumnTarget | undefined {
  return [...named.values()].find((target) => target?.field === 'subscribed') ?? undefined;
}

/** Returns the name of a column in the form in which `columns` compares it. */
export function keyOf(name: string): string {
  return name.trim().toLowerCase();
}

const recordColumns = new Set(recordFields.map(keyOf));

function targetOf(
  name: string,
  { named }: ColumnRules,
  isRecord: boolean,
): ColumnTarget | undefined {
  const key = keyOf(name);
  const target = named.get(key);
  if (target !== undefined) {
    return target ?? undefined;
  }
  return isRecord && recordColumns.has(key) ? undefined : { field: fieldOf(name) };
}

/**
 * Returns the field for the name of a column: `Email` and `SUBSCRIBED` become `email` and `subscribed`. An empty
 * result is a column without a name.
 */
function fieldOf(name: string): string {
  const key = keyOf(name);
  if (key === 'email' || key === 'subscribed') {
    return key;
  }
  return key === '' || key === extraCells ? '' : name;
}

/** Finds the column of the addresses if no column is called `email`, by common spellings such as `E-Mail Address`. */
function findEmailColumn(
  names: readonly string[],
  targets: readonly (ColumnTarget | undefined)[],
  isFile: boolean,
): number {
  const alike = names.flatMap((name, at) =>
    targets[at]?.field === name && /^e[\s_-]?mail([\s_-]?address)?$/i.test(name) ? [at] : [],
  );
  const [only, ...others] = alike;
  if (only === undefined) {
    if (!isFile) {
      throw invalidRequest([{ field: 'email', message: `is missing. ${joinNames(names)}` }]);
    }
    throw invalidColumns(
      `There is no column \`email\`. Name yours: \`columns: { "…": 'email' }\`. If several columns were read as one, set their separator: \`separator: ';'\`. ${joinNames(names)}`,
    );
  }
  if (others.length > 0) {
    throw invalidColumns(
      `Several columns may hold the address. Name one: \`columns: { "…": 'email' }\`. ${joinNames(names)}`,
    );
  }
  return only;
}

/**
 * Makes the names of columns unique. The second column with the same name becomes a separate field, so that no
 * value is lost and `columns` can name either. Further columns without a name get blanks as their names: a
 * reported row then shows all of them, and `columns: { '': null }` drops them.
 */
function makeUnique(header: readonly string[], warn: (message: string) => void): readonly string[] {
  const seen = new Set(header);
  const taken = new Set<string>();
  return header.map((name) => {
    if (!taken.has(name)) {
      taken.add(name);
      return name;
    }
    if (name === '') {
      let blanks = ' ';
      while (taken.has(blanks)) {
        blanks += ' ';
      }
      taken.add(blanks);
      return blanks;
    }
    let number = 2;
    while (seen.has(`${name} ${number}`)) {
      number += 1;
    }
    const other = `${name} ${number}`;
    seen.add(other);
    warn(`The column "${name}" occurs more than once: one of them is imported as "${other}".`);
    return other;
  });
}

/** Throws if a field of `data` is a key of the row too, or would be the address or the subscription. */
function requireFreeNames(dataNames: readonly string[], fields: readonly (string | null)[]): void {
  for (const name of dataNames) {
    const key = keyOf(name);
    const field = `data.${name}`;
    if (fields.includes(name) || key === 'email') {
      throw invalidRequest([
        { field, message: 'is also a field of the row: keep only one of them' },
      ]);
    }
    if (key === 'subscribed' || key === '') {
      throw invalidRequest([{ field, message: 'cannot be a custom field of an import' }]);
    }
  }
}

function warnReserved(field: string | null, { data, warn }: ColumnRules): void {
  if (field === null || field === 'email' || !isReserved(field)) {
    return;
  }
  const message = `The column \`${field}\` is a reserved field, which the service drops: ${reservedKeys[field]}`;
  if (data.reserved === 'throw') {
    throw invalidColumns(`${message}. Drop it: \`columns: { "${field}": null }\``);
  }
  if (data.reserved !== 'send') {
    warn(`${message}.`);
  }
}

function joinNames(names: readonly string[]): string {
  const shorten = (name: string) => (name.length > 50 ? `${name.slice(0, 50)}…` : name); // the file may not be CSV at all
  const shown = names.slice(0, 50).map((name) => `"${shorten(name)}"`);
  return `The columns are ${shown.join(', ')}${names.length > shown.length ? ', …' : ''}`;
}

function invalidColumns(message: string): Error {
  return invalidRequest([{ field: '', message }]);
}
