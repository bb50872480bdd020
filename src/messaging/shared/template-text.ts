import { isRecord } from '../../core/values.js';
import { isReserved } from './data.js';

/** A variable of a template: `{{profile.tier ?? "free"}}`. */
export interface TemplateVariable {
  /** The dotted path into the data: `profile.tier`. */
  readonly path: string;
  /** What the service uses when the field is missing or null; `undefined` without a fallback. */
  readonly fallback: string | undefined;
}

/** What a template asks for. */
export interface TemplateVariables {
  /** In order of their first appearance; each path once. */
  readonly variables: readonly TemplateVariable[];
  /** Braces and tags that are not of a documented form. They are kept unchanged. */
  readonly notUnderstood: readonly string[];
}

/** A template filled in locally. */
export interface RenderedTemplate {
  readonly text: string;
  /** Paths without a value and without a fallback. They are rendered as empty text. */
  readonly missing: readonly string[];
  /** Braces and tags that are not of a documented form. They are kept unchanged. */
  readonly notUnderstood: readonly string[];
}

// Three braces, and the blocks, helpers and tags of other template languages (Liquid, ERB and EJS, Mailchimp), are
// matched as a whole, so that no part of them is taken for a variable.
const braces = /\{\{\{[\s\S]*?\}\}\}|\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|<%[\s\S]*?%>|\*\|[\w:]+\|\*/g;
// A name may have spaces, as columns of a spreadsheet do.
const documented =
  /^\{\{\s*([^\s{}?|#/^>!&"'()]+(?: +[^\s{}?|#/^>!&"'()]+)*)\s*(?:\?\?\s*(?:"([^"]*)"|'([^']*)')\s*)?\}\}$/;

/** Finds the variables of a template: `{{a}}`, `{{a.b}}` and `{{a ?? "fallback"}}`. */
export function variablesOf(text: string): TemplateVariables {
  const variables = new Map<string, TemplateVariable>();
  const notUnderstood: string[] = [];
  for (const [found] of text.matchAll(braces)) {
    const variable = variableIn(found);
    if (variable === undefined) {
      notUnderstood.push(found);
      continue;
    }
    const known = variables.get(variable.path);
    // Once without a fallback is enough to need a value.
    if (known === undefined || variable.fallback === undefined) {
      variables.set(variable.path, variable);
    }
  }
  return { variables: [...variables.values()], notUnderstood };
}

/**
 * Fills in a template locally. How the service writes values other than text, and a missing one
 * without a fallback, is not given by its document: here they are their JSON and an empty text. What
 * the service fills in itself, e.g. `{{unsubscribeUrl}}`, stays as it is without a value.
 */
export function renderText(
  text: string,
  data: Readonly<Record<string, unknown>>,
): RenderedTemplate {
  const missing = new Set<string>();
  const notUnderstood: string[] = [];
  const rendered = text.replace(braces, (found) => {
    const variable = variableIn(found);
    if (variable === undefined) {
      notUnderstood.push(found);
      return found;
    }
    const value = valueAt(data, variable.path);
    if (value !== undefined && value !== null) {
      return textOf(value);
    }
    const [name = ''] = variable.path.split('.');
    if (isReserved(name) && variable.fallback === undefined) {
      return found; // the service fills it in
    }
    if (variable.fallback === undefined) {
      missing.add(variable.path);
    }
    return variable.fallback ?? '';
  });
  return { text: rendered, missing: [...missing], notUnderstood };
}

/** Warns of text that the service would mail unchanged. */
export type TextCheck = (body: unknown) => void;

// So many finds are remembered.
const maxReported = 1000;

/**
 * Makes the one check of every subject and body that is sent: of an email, a template, a campaign, and the `config`
 * of a workflow's step. It reports each find once, because a mailing has the same text for everybody.
 */
export function createTextCheck(warn: (message: string) => void): TextCheck {
  const reported = new Set<string>();
  return (body) => {
    const config = isRecord(body) ? body['config'] : undefined;
    for (const [field, text] of [...textsOf(body, ''), ...textsOf(config, 'config.')]) {
      const raw = mayHaveTags.test(text) ? rawIn(text) : [];
      const found = [...new Set(raw)].filter((one) => !reported.has(one));
      if (found.length > 0 && reported.size < maxReported) {
        found.forEach((one) => reported.add(one));
        const shown = found
          .slice(0, 5)
          .map((one) => `\`${one.slice(0, 60)}\``)
          .join(', ');
        warn(
          `\`${field}\` has ${shown}, which is not a variable: the service sends it unchanged. Variables are \`{{name}}\` and \`{{name ?? "default"}}\`.`,
        );
      }
    }
  };
}

const mayHaveTags = /\{\{|\{%|<%|\*\||%7B%7B/i;

function textsOf(fields: unknown, path: string): (readonly [string, string])[] {
  return (['subject', 'body'] as const).flatMap((name) => {
    const text = isRecord(fields) ? fields[name] : undefined;
    return typeof text === 'string' ? [[`${path}${name}`, text] as const] : [];
  });
}

/** The parts of a text that the service would mail unchanged: tags that are not variables, and braces that are not closed. */
function rawIn(text: string): readonly string[] {
  const { notUnderstood } = variablesOf(text);
  const rest = text.replace(braces, '');
  const open = /\{\{[^\n]{0,20}/.exec(rest);
  const escaped = /%7B%7B[^"'\s]{0,20}/i.exec(rest);
  return [...notUnderstood, ...(open ?? []), ...(escaped ?? [])];
}

function variableIn(found: string): TemplateVariable | undefined {
  const match = documented.exec(found);
  if (match === null) {
    return undefined;
  }
  const [, path = '', double, single] = match;
  return { path, fallback: double ?? single };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value).replace(/^"|"$/g, '');
}

/** Reads `profile.tier` out of nested data; a key that contains the dots itself comes first. */
function valueAt(data: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(data, path)) {
    return unmarked(data[path]);
  }
  let value: unknown = data;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) {
      return undefined;
    }
    value = unmarked(Reflect.get(value, key));
  }
  return value;
}

// `{ value, persistent: false }` is a value for one send (Custom fields, rule 2).
function unmarked(value: unknown): unknown {
  const isMarked =
    typeof value === 'object' &&
    value !== null &&
    'persistent' in value &&
    value.persistent === false &&
    'value' in value;
  return isMarked ? value.value : value;
}
