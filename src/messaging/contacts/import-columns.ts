import { invalidRequest } from '../../core/errors.js';
import type { DataOptions } from '../../core/types.js';
import { isReserved, reservedKeys } from '../shared/data.js';

/** What an import does with the columns of a file or the fields of a row. */
export interface ColumnRules {
  /** Fields by the names of columns, trimmed and in lower case; `null` drops one. */
  readonly named: ReadonlyMap<string, string | null>;
  readonly data: DataOptions;
  readonly warn: (message: string) => void;
}

/** The columns that are imported, with their places in a record. */
export interface Columns {
  readonly fields: readonly string[];
  readonly places: readonly number[];
  /** Columns without a name: what stands in them would be lost. */
  readonly nameless: readonly number[];
}

/** Reads the option `columns`. */
export function columnsOption(given: Readonly<Record<string, string | null>> = {}) {
  const named = new Map<string, string | null>();
  for (const [column, field] of Object.entries(given) as [string, unknown][]) {
    const key = keyOf(column);
    const target = typeof field === 'string' ? fieldOf(field.trim()) : field;
    if (target !== null && (typeof target !== 'string' || target === '')) {
      throw refusal(
        `\`columns\` must give "${column}" the name of a field, or \`null\` to drop it`,
      );
    }
    if (named.has(key)) {
      throw refusal(`\`columns\` names "${column.trim()}" twice`);
    }
    named.set(key, target);
  }
  return named;
}

/** Which column is which field. Throws where that is not certain, or a column that was named is missing. */
export function columnsOf(header: readonly string[], rules: ColumnRules, isFile: boolean): Columns {
  const names = distinct(header, rules.warn);
  if (isFile) {
    requireNamed(names, rules);
  }
  const targets = names.map((name) => targetOf(name, rules));
  const found = targets.includes('email') ? -1 : emailColumn(names, targets, isFile);
  if (found >= 0) {
    targets[found] = 'email';
  }
  const twice = targets.find((field, at) => field && targets.indexOf(field) < at);
  if (twice !== undefined) {
    throw refusal(
      `Two columns would be the field \`${String(twice)}\`. Give one another name, or drop it: \`columns: { "…": null }\`. ${listed(names)}`,
    );
  }
  for (const field of targets) {
    tellReserved(field, rules);
  }
  const places = targets.flatMap((field, at) => (field === null || field === '' ? [] : [at]));
  return {
    places,
    fields: places.map((at) => targets[at] ?? ''),
    nameless: targets.flatMap((field, at) => (field === '' ? [at] : [])),
  };
}

/** Refuses a column of the option `columns` that is not there. */
export function requireNamed(names: readonly string[], { named }: ColumnRules): void {
  const there = new Set(names.map(keyOf));
  const missing = [...named.keys()].find((key) => !there.has(key));
  if (missing !== undefined) {
    throw refusal(`\`columns\` names "${missing}", which is not there. ${listed(names)}`);
  }
}

/** The name of a column, as `columns` compares it. */
function keyOf(name: string): string {
  return name.trim().toLowerCase();
}

function targetOf(name: string, { named }: ColumnRules): string | null {
  const target = named.get(keyOf(name));
  return target === undefined ? fieldOf(name) : target;
}

/** A name as a field: the two of every contact are meant in capitals, too. */
function fieldOf(name: string): string {
  const key = keyOf(name);
  return key === 'email' || key === 'subscribed' ? key : name;
}

/** The column of the addresses where none is called `email`: programs spell it in a few ways. */
function emailColumn(
  names: readonly string[],
  targets: readonly (string | null)[],
  isFile: boolean,
): number {
  const alike = names.flatMap((name, at) =>
    targets[at] === name && /^e[\s_-]?mail([\s_-]?address)?$/i.test(name) ? [at] : [],
  );
  const [only, ...others] = alike;
  if (only === undefined) {
    if (!isFile) {
      throw invalidRequest([{ field: 'email', message: `is missing. ${listed(names)}` }]);
    }
    throw refusal(
      `There is no column \`email\`. Name yours: \`columns: { "…": 'email' }\`. ${listed(names)}`,
    );
  }
  if (others.length > 0) {
    throw refusal(
      `Several columns may hold the address. Name one: \`columns: { "…": 'email' }\`. ${listed(names)}`,
    );
  }
  return only;
}

/** A column that comes twice becomes two fields: nothing is lost, and `columns` can name either. */
function distinct(header: readonly string[], warn: (message: string) => void): readonly string[] {
  const seen = new Set(header);
  const taken = new Set<string>();
  return header.map((name) => {
    if (name === '' || !taken.has(name)) {
      taken.add(name);
      return name;
    }
    let number = 2;
    while (seen.has(`${name} ${number}`)) {
      number += 1;
    }
    const other = `${name} ${number}`;
    seen.add(other);
    warn(`The column "${name}" comes more than once: one of them is imported as "${other}".`);
    return other;
  });
}

function tellReserved(field: string | null, { data, warn }: ColumnRules): void {
  if (field === null || field === 'email' || !isReserved(field)) {
    return;
  }
  const message = `The column \`${field}\` is a reserved field, which the service drops: ${reservedKeys[field]}`;
  if (data.reserved === 'throw') {
    throw refusal(`${message}. Drop it: \`columns: { "${field}": null }\``);
  }
  if (data.reserved !== 'send') {
    warn(`${message}.`);
  }
}

function listed(names: readonly string[]): string {
  const short = (name: string) => (name.length > 50 ? `${name.slice(0, 50)}…` : name); // a file may be no CSV at all
  const shown = names.slice(0, 50).map((name) => `"${short(name)}"`);
  return `The columns are ${shown.join(', ')}${names.length > shown.length ? ', …' : ''}`;
}

function refusal(message: string): Error {
  return invalidRequest([{ field: '', message }]);
}
