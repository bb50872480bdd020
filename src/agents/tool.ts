import type { MediaClient, MediaFile } from 'postreel/media';
import type { MessagingClient } from 'postreel/messaging';
import * as z from 'zod/mini';
import { findProblems } from '../core/call/validate.js';
import { isRecord } from '../core/values.js';
import type { Folder } from './folder.js';
import type { JsonSchema } from './json-schema.js';
import { parameters } from './parameters.js';
import { formatInline, ToolRefusal } from './text.js';

/** The services that every tool uses. */
export interface Services {
  /** The client of a service. Reading it throws if its key or address is missing. */
  readonly messaging: MessagingClient;
  readonly media: MediaClient;
  readonly folder: Folder;
  /** The finished files that a wait has seen: a service may delete them afterwards. */
  readonly finished: Map<string, MediaFile>;
}

/** The progress of one call of a tool. */
export interface CallProgress {
  readonly signal: AbortSignal;
  /** Reports what the call does or waits for: at once, and again every few seconds. */
  readonly report: (message: string) => void;
}

/** The parameters of a tool in the form that MCP requires. */
export interface InputSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/** The description of a tool for the client. */
export interface ToolInfo {
  readonly name: string;
  /** For the agent, in a sentence or two: the effect of the tool, its units and its limits. */
  readonly about: string;
  readonly inputSchema: InputSchema;
}

/** A tool that changes nothing at the services. */
export interface ReadTool extends ToolInfo {
  readonly kind: 'read';
  /** The tool writes a file to the folder. */
  readonly writesFile?: true;
  readonly read: (args: unknown, services: Services, progress: CallProgress) => Promise<unknown>;
}

/** One line of a plan: a label, and its value in the form that a person reads. */
export interface Fact {
  readonly label: string;
  /** May have several lines. All its parts have been escaped by `quoteLines()` or `formatInline()`. */
  readonly text: string;
  /** The number of people concerned. It may change before the step runs, but not grow beyond `max`. */
  readonly people?: { readonly now: number; readonly max: number };
}

/** The effect of a step, in the words that a person approves. */
export interface Description {
  /** `Send 1 email`. */
  readonly action: string;
  readonly facts: readonly Fact[];
  /**
   * Data that was read for this description and must not be read a second time, such as the bytes of a file.
   */
  readonly content?: unknown;
}

/**
 * The context of an approved step. The signal aborts when the server stops: a step of several calls then
 * starts no further call, and leaves the one in flight alone.
 */
export interface StepRun extends CallProgress {
  /** The idempotency key of the step's calls: the id of the plan. */
  readonly once: string;
  /** The `content` of the last description. */
  readonly content: unknown;
}

/** A tool that plans a step. Its step sends mail, spends money, deletes, or changes who gets mail. */
export interface PlanTool extends ToolInfo {
  readonly kind: 'plan';
  readonly parse: (args: unknown) => unknown;
  /**
   * Describes the step. Called again right before the step runs: the step runs only if the description is still
   * the same.
   */
  readonly describe: (
    input: unknown,
    services: Services,
    signal: AbortSignal,
  ) => Promise<Description>;
  readonly run: (input: unknown, services: Services, run: StepRun) => Promise<unknown>;
}

export type Tool = ReadTool | PlanTool;

/** A tool with a typed input; the table of tools holds tools with different inputs. */
interface TypedTool<Input> {
  readonly name: string;
  readonly about: string;
  readonly schema: z.ZodMiniType<Input>;
  /** Descriptions of its parameters that differ from `parameters`; `null` hides a parameter from agents. */
  readonly fields?: Readonly<Record<string, JsonSchema | string | null>>;
}

/** Creates a tool that reads, for reads that do not fit into one row of the table. */
export function readTool<Input>(
  tool: TypedTool<Input> & {
    readonly writesFile?: true;
    readonly read: (input: Input, services: Services, progress: CallProgress) => Promise<unknown>;
  },
): ReadTool {
  const { schema, fields, read, ...named } = tool;
  const inputSchema = inputSchemaOf(schema, fields, true);
  return {
    kind: 'read',
    ...named,
    inputSchema,
    // Async, so that an invalid input is a rejection.
    read: async (args, services, progress) => {
      const input = parse(tool, inputSchema, pickKnown(args, inputSchema));
      return read(input, services, progress);
    },
  };
}

/** Creates a tool that plans a step. */
export function planTool<Input>(
  tool: TypedTool<Input> & {
    readonly describe: (
      input: Input,
      services: Services,
      signal: AbortSignal,
    ) => Promise<Description>;
    readonly run: (input: Input, services: Services, run: StepRun) => Promise<unknown>;
  },
): PlanTool {
  const { schema, fields, describe, run, ...named } = tool;
  const inputSchema = inputSchemaOf(schema, fields, false);
  return {
    kind: 'plan',
    ...named,
    inputSchema,
    parse: (args) => parse(tool, inputSchema, args ?? {}),
    // as: the return value of this tool's `parse()`
    describe: (input, services, signal) => describe(input as Input, services, signal),
    run: (input, services, how) => run(input as Input, services, how),
  };
}

/**
 * Keeps the known fields of a read that have a value: several clients send `null` and `''` for the others.
 */
export function pickKnown(args: unknown, { properties }: InputSchema): Record<string, unknown> {
  const given = isRecord(args) ? Object.entries(args) : [];
  return Object.fromEntries(
    given.filter(
      ([name, value]) => Object.hasOwn(properties, name) && value !== null && value !== '',
    ),
  );
}

const keywords: readonly string[] = [
  'description',
  'enum',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'required',
];

/** Converts a zod schema to the form that MCP requires: each parameter with a type and a description. */
export function inputSchemaOf(
  schema: z.ZodMiniType | undefined,
  fields: TypedTool<unknown>['fields'],
  isOpen: boolean,
): InputSchema {
  const given =
    schema && (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as object); // as: no schema here is a boolean
  return {
    properties: {},
    additionalProperties: isOpen,
    ...describeSchema(given ?? {}, { ...parameters, ...fields }, isOpen),
    type: 'object',
  };
}

function describeSchema(
  schema: JsonSchema & { readonly const?: unknown },
  fields: Readonly<Record<string, JsonSchema | string | null>>,
  isOpen: boolean,
): JsonSchema {
  const { properties, items, anyOf, type, const: only } = schema;
  const named = Object.entries(properties ?? {}).flatMap(([name, given]) => {
    const fact = fields[name];
    if (fact === null) {
      return [];
    }
    const whole =
      typeof fact === 'object' ? fact : { ...given, ...(fact && { description: fact }) };
    return [[name, describeSchema(whole, fields, isOpen)] as const];
  });
  const kept = Object.entries(schema).filter(([name]) => keywords.includes(name));
  // Leave `null` out: it is for programs, and some clients do not support a parameter of two types.
  const kinds = anyOf
    ?.filter((kind) => kind.type !== 'null')
    .map((kind) => describeSchema(kind, fields, isOpen));
  const oneType = type && ([type].flat().find((each) => each !== 'null') ?? 'string');
  return {
    ...(kinds?.length === 1 && kinds[0]),
    ...(oneType && { type: oneType }),
    ...(kinds && kinds.length > 1 && { anyOf: kinds }),
    ...Object.fromEntries(kept),
    ...(only !== undefined && { enum: [only] }), // several clients reject `const`
    ...(items && { items: describeSchema(items, fields, isOpen) }),
    // Several clients reject an object without `properties`, such as one of custom fields.
    ...(oneType === 'object' && {
      properties: Object.fromEntries(named),
      additionalProperties: isOpen || properties === undefined,
    }),
  };
}

/** Parses the input of a call. Throws a `ToolRefusal` that names each invalid field and what it must be. */
function parse<Input>(
  { name, schema }: TypedTool<Input>,
  shape: InputSchema,
  given: unknown,
): Input {
  const args = parseTexts(given, shape);
  const unknown = unknownFields(shape, args).map((place) => `unknown field ${formatInline(place)}`);
  const invalid = findProblems(schema, args).map(({ field, message }) => `\`${field}\` ${message}`);
  const wrong = [...unknown, ...invalid];
  if (wrong.length > 0) {
    throw new ToolRefusal(`The input of ${name} is wrong: ${wrong.join('; ')}.`);
  }
  return schema.parse(args);
}

/** Parses JSON strings where an object or a list is expected: several clients and models send them so. */
function parseTexts(value: unknown, schema: JsonSchema): unknown {
  const forms = schema.anyOf ?? [schema];
  const read = typeof value === 'string' && forms.some(hasParts) ? parseParts(value) : value;
  if (Array.isArray(read)) {
    const items = forms.find((form) => form.items)?.items;
    return items ? read.map((item) => parseTexts(item, items)) : (read as unknown);
  }
  if (!isRecord(read)) {
    return read;
  }
  const properties = forms.find((form) => form.properties)?.properties ?? {};
  const entries = Object.entries(read).map(([name, part]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, known ? parseTexts(part, known) : part] as const;
  });
  return Object.fromEntries(entries);
}

function hasParts({ type }: JsonSchema): boolean {
  return type === 'object' || type === 'array';
}

/** Parses a string that is the JSON of an object or a list; returns any other string unchanged. */
function parseParts(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}

/** The paths of unknown fields at any depth, such as `payload.0.webhook`. */
function unknownFields(schema: JsonSchema, value: unknown, place = ''): string[] {
  const { properties, items, additionalProperties } = schema;
  if (Array.isArray(value)) {
    return value.flatMap((part, index) => unknownFields(items ?? {}, part, `${place}${index}.`));
  }
  if (!isRecord(value) || properties === undefined) {
    return [];
  }
  return Object.entries(value).flatMap(([field, part]) => {
    const known = Object.hasOwn(properties, field) ? properties[field] : undefined;
    const isUnknown = !known && additionalProperties === false;
    return isUnknown ? [`${place}${field}`] : unknownFields(known ?? {}, part, `${place}${field}.`);
  });
}

/** Throws if a plan would list more items than a person reads before approving it. */
export function assertAtMost(count: number, most: number, what: string): void {
  if (count > most) {
    throw new ToolRefusal(
      `A plan shows at most ${most} ${what} to a person; got ${count}. Make smaller plans, or write a program for more.`,
    );
  }
}
