import { isRecord } from '../../core/values.js';
import { isReserved } from './data.js';

/** A variable of a template: `{{profile.tier ?? "free"}}`. */
export interface TemplateVariable {
  /** The dotted path into the data: `profile.tier`. */
  readonly path: string;
  /** The text that the service uses if the field is missing or null; `undefined` without a fallback. */
  readonly fallback: string | undefined;
}

/** The variables of a template. */
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

// Triple braces, and the blocks, helpers and tags of other template languages (Liquid, ERB and EJS, Mailchimp), are
// matched as a whole, so that no part of them is read as a variable.
const braces = /\{\{\{[\s\S]*?\}\}\}|\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|<%[\s\S]*?%>|\*\|[\w:]+\|\*/g;
// A variable. Its name may contain spaces, as the columns of a spreadsheet do.
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
    // A variable that appears once without a fallback needs a value, so that appearance is kept.
    if (known === undefined || variable.fallback === undefined) {
      variables.set(variable.path, variable);
    }
  }
  return { variables: [...variables.values()], notUnderstood };
}

/**
 * Fills in a template locally. The service does not document how it renders values other than text, and a missing
 * value without a fallback: here they become JSON and an empty text. A variable that the service fills in itself,
 * e.g. `{{unsubscribeUrl}}`, stays unchanged if it has no value.
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

/** Emits a `warning` for a text that the service would mail unchanged. */
export type TextCheck = (body: unknown) => void;

// The maximum number of reported tags that are remembered. After that, nothing more is reported.
const maxReported = 1000;

/**
 * Creates the check of every subject and body that is sent: of emails, templates, campaigns, and the `config` of
 * workflow steps. The check reports each tag once, because a mailing has the same text for every recipient.
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

/** Finds the parts of a text that the service would mail unchanged: tags that are not variables, and open braces. */
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

/** Reads the value at `profile.tier` from nested data. A key that contains the dots itself takes precedence. */
function valueAt(data: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(data, path)) {
    return findUnmarked(data[path]);
  }
  let value: unknown = data;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) {
      return undefined;
    }
    value = findUnmarked(Reflect.get(value, key));
  }
  return value;
}

// `{ value, persistent: false }` is a value for one send (Custom fields, rule 2).
function findUnmarked(value: unknown): unknown {
  const isMarked =
    typeof value === 'object' &&
    value !== null &&
    'persistent' in value &&
    value.persistent === false &&
    'value' in value;
  return isMarked ? value.value : value;
}
