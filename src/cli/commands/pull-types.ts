import { UnexpectedResponseError, type RequestOptions } from 'postreel';
import { isRecord } from '../../core/values.js';
import type { ContactField, FieldInventory, EventNames, Template } from 'postreel/messaging';
import { variablesOf } from '../../messaging/shared/template-text.js';
import { writeTypes, type PulledTemplate, type PulledTypes } from './types-file.js';

/** The methods of a client that `pullTypes()` calls. */
export interface PullSource {
  readonly contacts: {
    readonly fields: { list(options?: RequestOptions): PromiseLike<FieldInventory> };
  };
  readonly events: { names(options?: RequestOptions): PromiseLike<EventNames> };
  readonly templates: { list(query?: object, options?: RequestOptions): AsyncIterable<Template> };
}

/** Writes the types of a project's custom fields, events and templates, as TypeScript. */
export async function pullTypes(source: PullSource, options?: RequestOptions): Promise<string> {
  return writeTypes(await readProject(source, options));
}

/** Reads the custom fields, events and templates of a project. */
async function readProject(
  { contacts, events, templates }: PullSource,
  options?: RequestOptions,
): Promise<PulledTypes> {
  const fields: unknown = (await contacts.fields.list(options)).fields; // a service may leave it out
  if (!Array.isArray(fields)) {
    throw unreadableError('/contacts/fields');
  }
  const names = await events.names(options);
  const found: PulledTemplate[] = [];
  for await (const template of templates.list({}, options)) {
    found.push(pullTemplate(template));
  }
  return {
    fields: (fields as ContactField[]).filter(isCustom).map(pullField).sort(compareNames),
    events: [...new Set(readNames(names))].sort(),
    templates: found.sort(compareNames),
  };
}

function isCustom({ field, isCustom }: ContactField): boolean {
  return isCustom || field.startsWith('data.');
}

function pullField({ field, type }: ContactField) {
  return { name: field.replace(/^data\./, ''), type };
}

/** Reads the names of events. The service does not document the response: a list of names, or of records. */
function readNames(answer: unknown): string[] {
  const lists = Array.isArray(answer) ? [answer] : isRecord(answer) ? Object.values(answer) : [];
  const list: unknown = lists.find((value) => Array.isArray(value));
  const items: readonly unknown[] | undefined = Array.isArray(list) ? list : undefined;
  const names = items?.map((item) => (isRecord(item) ? (item['name'] ?? item['event']) : item));
  // Do not take an unreadable response for a project without events.
  if (!names?.every((name) => typeof name === 'string')) {
    throw unreadableError('/events/names');
  }
  return names;
}

function unreadableError(path: string): UnexpectedResponseError {
  return new UnexpectedResponseError(
    `GET ${path} was answered, but its list cannot be read: the service's document does not show it. Nothing was written.`,
    { code: 'UNEXPECTED_RESPONSE', method: 'GET', path },
  );
}

function pullTemplate({ id, name, subject, body }: Template): PulledTemplate {
  const { variables } = variablesOf(`${subject}\n${body}`);
  const isOptional = (path: string) =>
    variables.some((one) => one.path === path && one.fallback !== undefined);
  const paths = variables.map(({ path }) => path).sort();
  return {
    id,
    name,
    required: paths.filter((path) => !isOptional(path)),
    optional: paths.filter(isOptional),
  };
}

// Compares by code units, so that the order is the same on every machine.
function compareNames(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}
