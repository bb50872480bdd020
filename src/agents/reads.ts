import * as schemas from 'postreel/schemas';
import type { ZodMiniType } from 'zod/mini';
import type { Page } from 'postreel';
import type { Route } from '../core/call/route.js';
import { isRecord } from '../core/values.js';
import { routes as media } from '../media/routes.js';
import { routes as messaging } from '../messaging/routes.js';
import { parameters } from './parameters.js';
import { formatInline, ToolRefusal } from './text.js';
import {
  inputSchemaOf,
  pickKnown,
  type InputSchema,
  type ReadTool,
  type Services,
} from './tool.js';
import type { JsonSchema } from './json-schema.js';

const routes = { messaging, media };

/** The reads, by tool name: the method of an endpoint row, and a sentence for the agent. */
const reads: Readonly<Record<string, readonly [row: ReadRow, about: string]>> = {
  find_contacts: ['messaging.contacts.list', 'Lists contacts.'],
  get_contact: [
    'messaging.contacts.get',
    'One contact with its custom fields. find_contacts finds its id by the email.',
  ],
  list_templates: ['messaging.templates.list', 'Lists email templates, without their bodies.'],
  get_template: ['messaging.templates.get', 'One template, with its subject and body.'],
  list_campaigns: [
    'messaging.campaigns.list',
    'Lists campaigns with their status, without bodies.',
  ],
  get_campaign: ['messaging.campaigns.get', 'One campaign, with its body and its audience.'],
  get_campaign_stats: [
    'messaging.campaigns.stats',
    'How often a campaign was sent, opened, clicked and bounced.',
  ],
  list_segments: ['messaging.segments.list', 'Lists segments of contacts.'],
  list_segment_members: ['messaging.segments.members.list', 'Lists the contacts of a segment.'],
  list_workflows: [
    'messaging.workflows.list',
    'Lists workflows with their trigger, and whether they are on.',
  ],
  get_workflow: ['messaging.workflows.get', 'One workflow with its steps and transitions.'],
  recent_activity: [
    'messaging.activity.list',
    'Sends, opens, clicks, bounces and events across the project, newest first.',
  ],
  get_file: [
    'media.generate.status',
    'The status of a video or speech: queued, processing, success with its address, error or canceled.',
  ],
};

const usualLimit = 20;
const maxItems = 100;

/**
 * The parameter for the start of a result: a service may return a whole list, which may be longer than one
 * result may be.
 */
const fromParameter = {
  type: 'integer',
  minimum: 0,
  description: 'How many items to skip: the `nextFrom` of the previous result, if it has one.',
} as const;

/** The tools of the table above. */
export const rowTools: readonly ReadTool[] = Object.entries(reads).map(([name, [row, about]]) =>
  createRowTool(name, row, about),
);

/** `'messaging.contacts.list'`: the name of a row in its table. */
type RowName<Table> = {
  [Name in keyof Table & string]: Table[Name] extends { readonly method: string }
    ? Name
    : `${Name}.${RowName<Table[Name]>}`;
}[keyof Table & string];

/** The rows that only read. Two more use GET, but change something. */
type ReadRow = Exclude<
  RowName<typeof routes>,
  'messaging.auth.logout' | 'messaging.domains.verify'
>;

/**
 * Creates a read tool from a row: its parameters are those of the row's path and query. Throws for a row that
 * does not only read.
 */
export function createRowTool(name: string, row: ReadRow, about: string): ReadTool {
  const route = entryAt(routes, row) as Route; // as: a `RowName` is the name of a row
  if (route.method !== 'GET') {
    throw new Error(`${row} changes something: it takes a plan.`);
  }
  const { query } = (entryAt(schemas, row) ?? {}) as { readonly query?: ZodMiniType }; // as: schemas of a row
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter);
  const ofRow = addPathParameters(names, inputSchemaOf(query, undefined, true));
  const isList = route.returns.list !== undefined;
  const size = ['limit', 'pageSize'].find((each) => isList && each in ofRow.properties);
  const inputSchema = isList
    ? { ...ofRow, properties: { ...ofRow.properties, from: fromParameter } }
    : ofRow;
  const most = size === undefined ? maxItems : usualLimit;
  return {
    kind: 'read',
    name,
    about: isList ? `${about} ${most} at a time.` : about,
    inputSchema,
    async read(args, services, { signal }) {
      const given = pickKnown(args, inputSchema);
      const path = names.map((parameter) => readPathText(name, parameter, given));
      const others = Object.entries(given).filter(([parameter]) => !names.includes(parameter));
      const asked = Object.fromEntries(others);
      let from = 0;
      if (isList) {
        from = readNumber(name, 'from', asked['from'] ?? 0, [0, 1_000_000]);
        delete asked['from'];
      }
      if (size !== undefined) {
        asked[size] = readNumber(name, size, asked[size] ?? usualLimit, [1, maxItems]);
      }
      const call = methodOf(services, row);
      const answer = await call(...path, ...(query ? [asked] : []), { signal });
      return isList ? pageOf(answer as Page<unknown>, from) : limitSize(answer); // as: a list is a page
    },
  };
}

type Range = readonly [least: number, most: number];

function readNumber(tool: string, name: string, value: unknown, [least, most]: Range): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw new ToolRefusal(
      `The input of ${tool} is wrong: \`${name}\` must be a whole number from ${least} to ${most}; got ${formatInline(value)}.`,
    );
  }
  return value;
}

function entryAt(table: unknown, row: string): unknown {
  return row.split('.').reduce((part, name) => Reflect.get(Object(part), name) as unknown, table);
}

/** The method of a client that calls a row: it has the row's name. */
function methodOf(services: Services, row: string): (...args: unknown[]) => Promise<unknown> {
  const end = row.lastIndexOf('.');
  const owner = entryAt(services, row.slice(0, end)) as object; // as: a resource
  const method = Reflect.get(owner, row.slice(end + 1)) as (...args: unknown[]) => Promise<unknown>; // as: every row has one
  return (...args) => method.apply(owner, args);
}

function addPathParameters(
  names: readonly string[],
  { properties, required = [], ...rest }: InputSchema,
) {
  const own = Object.fromEntries(names.map((name) => [name, pathSchemaOf(name)]));
  const all = [...names, ...required];
  const schema = { ...rest, properties: { ...own, ...properties } };
  return all.length > 0 ? { ...schema, required: all } : schema;
}

function pathSchemaOf(name: string): JsonSchema {
  const known = parameters[name];
  return typeof known === 'object'
    ? known
    : { type: 'string', description: `\`${name}\` of the path.` };
}

function readPathText(
  tool: string,
  name: string,
  given: Readonly<Record<string, unknown>>,
): string {
  const value = given[name];
  if (typeof value !== 'string') {
    const got = value === undefined ? '' : `; got ${formatInline(value)}`;
    throw new ToolRefusal(`The input of ${tool} is wrong: \`${name}\` must be a text${got}.`);
  }
  return value;
}

// The maximum length of a result in characters, about ten thousand tokens: an agent cannot use a longer one.
const maxAnswer = 40_000;

function pageOf({ items, total, hasMore, cursor }: Page<unknown>, from: number) {
  const shown = items.slice(from, from + maxItems);
  const most = Math.floor(maxAnswer / Math.max(shown.length, 1));
  const next = from + shown.length;
  return {
    items: shown.map((item) => fit(omitBody(item), most, [300, 100, 30])),
    total,
    hasMore,
    cursor,
    ...(next < items.length && { nextFrom: next, leftOut: items.length - next }),
  };
}

/** Limits a result to the size that an agent can hold: long texts are cut and marked as cut. */
export function limitSize(answer: unknown): unknown {
  return fit(answer, maxAnswer, [30_000, 5_000, 500, 50]);
}

// Omits the body of a listed item: a separate tool returns it, such as `get_template` for `list_templates`.
function omitBody(item: unknown): unknown {
  if (!isRecord(item)) {
    return item;
  }
  return Object.fromEntries(Object.entries(item).filter(([name]) => name !== 'body'));
}

function fit(value: unknown, most: number, lengths: readonly number[]): unknown {
  const cuts = lengths.map((length) => () => shorten(value, length, 100));
  for (const cut of [() => value, ...cuts]) {
    const whole = cut();
    if (JSON.stringify(whole).length <= most) {
      return whole;
    }
  }
  return shorten(value, lengths.at(-1) ?? 0, 5);
}

function shorten(value: unknown, length: number, count: number): unknown {
  if (typeof value === 'string' && value.length > length) {
    return `${value.slice(0, length)}… (${value.length} characters)`;
  }
  if (Array.isArray(value)) {
    const more = value.length > count ? [`… (${value.length} in all)`] : [];
    return [...value.slice(0, count).map((part) => shorten(part, length, count)), ...more];
  }
  if (!isRecord(value)) {
    return value;
  }
  const entries = Object.entries(value);
  const more = entries.length > count ? [['…', `${entries.length} fields in all`]] : [];
  const shown = entries.slice(0, count).map(([name, part]) => [name, shorten(part, length, count)]);
  return Object.fromEntries([...shown, ...more]) as object;
}
