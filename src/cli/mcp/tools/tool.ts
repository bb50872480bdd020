import type { MediaClient, MediaFile } from 'postreel/media';
import type { MessagingClient } from 'postreel/messaging';
import * as z from 'zod/mini';
import { isRecord } from '../../../core/values.js';
import type { Folder } from '../folder.js';
import type { Description } from '../plans.js';
import { inline } from '../text.js';
import { Refusal } from '../refusal.js';

/** What every tool works with. */
export interface Services {
  /** The client of a service; a refusal where its key or address is missing. */
  readonly messaging: MessagingClient;
  readonly media: MediaClient;
  readonly folder: Folder;
  /** Files that a wait has seen finished: a service may forget them afterwards. */
  readonly finished: Map<string, MediaFile>;
}

/** How one call of a tool is followed. */
export interface Progress {
  readonly signal: AbortSignal;
  report(done: number, total: number, message: string): void;
}

interface Named<Input> {
  readonly name: string;
  readonly title: string;
  /** For the agent: what it does, units, limits. */
  readonly description: string;
  readonly schema: z.ZodMiniType<Input>;
}

/** A tool that changes nothing at the services. */
export interface ReadTool<Input = unknown> extends Named<Input> {
  readonly kind: 'read';
  /** It leaves a file in the folder. */
  readonly writesFile?: true;
  read(input: Input, services: Services, progress: Progress): Promise<unknown>;
}

/** A tool that plans a step which mails, spends, deletes, or changes who is mailed. */
export interface PlanTool<Input = unknown> extends Named<Input> {
  readonly kind: 'plan';
  /** What it would do; asked again right before it is done, since the answer must still be the same. */
  describe(input: Input, services: Services, signal: AbortSignal): Promise<Description>;
  /** @param content what the last description was read from */
  run(input: Input, services: Services, progress: Progress, content: unknown): Promise<unknown>;
}

export type Tool = ReadTool | PlanTool;

/** A row of the table of tools; the table holds tools of every input. */
export function readTool<Input>(tool: Omit<ReadTool<Input>, 'kind'>): Tool {
  return { kind: 'read', ...tool };
}

/** A row of the table of tools; the table holds tools of every input. */
export function planTool<Input>(tool: Omit<PlanTool<Input>, 'kind'>): Tool {
  return { kind: 'plan', ...tool };
}

/** The part of a JSON schema that says which fields there are. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly additionalProperties?: unknown;
}

/** What a tool takes, as the protocol wants it. A plan shows every field, so it knows them all. */
export function inputSchemaOf({ schema, kind }: Pick<Tool, 'kind' | 'schema'>): {
  type: 'object';
  properties?: Readonly<Record<string, object>>;
} {
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape; // as: no schema of ours is a boolean
  return { ...(kind === 'plan' ? closed(shape) : shape), type: 'object' };
}

function closed({ properties, items, ...rest }: Shape): Shape {
  const entries = Object.entries(properties ?? {}).map(([name, part]) => [name, closed(part)]);
  return {
    ...rest,
    ...(items && { items: closed(items) }),
    ...(properties && {
      properties: Object.fromEntries(entries) as Record<string, Shape>,
      additionalProperties: false,
    }),
  };
}

/** The input of a call of a tool; refuses what its schema does not allow. */
export function parseInput<Input>(
  name: string,
  tool: { readonly kind: Tool['kind']; readonly schema: z.ZodMiniType<Input> },
  args: unknown,
): Input {
  const { success, data, error } = tool.schema.safeParse(args ?? {});
  if (!success) {
    const issues = error.issues.map(({ path, message }) => `\`${path.join('.')}\` ${message}`);
    throw new Refusal(`The input of ${name} is wrong: ${issues.join('; ')}`);
  }
  const unknown = tool.kind === 'plan' ? unknownFields(inputSchemaOf(tool), data) : [];
  if (unknown.length > 0) {
    throw new Refusal(
      `The input of ${name} is wrong: it has no field ${unknown.map(inline).join(', ')}`,
    );
  }
  return data;
}

/** The fields that no schema names, however deep they stand: `payload.0.webhook`. */
function unknownFields({ properties, items }: Shape, value: unknown, place = ''): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((part, index) => unknownFields(items ?? {}, part, `${place}${index}.`));
  }
  if (!isRecord(value) || properties === undefined) {
    return [];
  }
  return Object.entries(value).flatMap(([field, part]) => {
    const shape = Object.hasOwn(properties, field) ? properties[field] : undefined;
    return shape ? unknownFields(shape, part, `${place}${field}.`) : [`${place}${field}`];
  });
}

/** What a plan may list: more than this is not read before it is said yes to. */
export function assertAtMost(count: number, most: number, what: string): void {
  if (count > most) {
    throw new Refusal(
      `A plan shows at most ${most} ${what} to a person; got ${count}. Make smaller plans, or write a program for more.`,
    );
  }
}
