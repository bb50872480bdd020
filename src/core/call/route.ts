import type { FieldError } from '../errors.js';
import type { Call, DataOptions, ListOptions, Paginated, RequestOptions } from '../types.js';
import { isRecord, type FileInput } from '../values.js';

/** A type that a row carries without a value, because the tables are plain data. */
export interface Shape<T> {
  readonly type?: T;
}

/** The result of a route that is not a list. */
export interface SingleResult<T> extends Shape<T> {
  readonly list?: never;
  /** Does the route return nothing that a caller could use? */
  readonly isNothing?: boolean;
  /** The lists that become empty arrays if a response omits them, so that a program can iterate over them. */
  readonly lists?: readonly string[];
}

/**
 * How a list continues: by `cursor`, by `page` number, not at all (`whole`), or in a way that the documents
 * do not show (`any`: the response decides).
 */
export type ListStyle = 'cursor' | 'page' | 'whole' | 'any';

/** The result of a route that is a list. */
export interface ListResult<T> {
  readonly item?: T;
  readonly list: ListStyle;
  /** The query parameter for the page size; left out if the document has none. */
  readonly sizeParameter?: string;
  /** The name of the field with the items, if it is not `data`. */
  readonly itemsName?: string;
}

/**
 * Carries the type of a body, a query or a result. `lists` names the fields of a result that become empty arrays
 * if a response omits them.
 */
/* @__NO_SIDE_EFFECTS__ */
export function ofType<T>(...lists: readonly (keyof T & string)[]): SingleResult<T> {
  return lists.length > 0 ? { lists } : {};
}

/** A route whose response only confirms its success. */
/* @__NO_SIDE_EFFECTS__ */
export function nothing(): SingleResult<void> {
  return { isNothing: true };
}

/** A list that continues by cursor: `{ data, cursor, hasMore, total }`. */
/* @__NO_SIDE_EFFECTS__ */
export function cursorPage<T>(): ListResult<T> {
  return { list: 'cursor', sizeParameter: 'limit' };
}

/** A list with numbered pages: `{ page, pageSize, total, totalPages? }`. */
/* @__NO_SIDE_EFFECTS__ */
export function numberedPage<T>(sizeParameter: string, itemsName?: string): ListResult<T> {
  return { list: 'page', sizeParameter, ...(itemsName === undefined ? {} : { itemsName }) };
}

/** A list that one response contains completely. */
/* @__NO_SIDE_EFFECTS__ */
export function wholeList<T>(itemsName?: string): ListResult<T> {
  return { list: 'whole', ...(itemsName === undefined ? {} : { itemsName }) };
}

/** A list whose form the documents do not show. */
/* @__NO_SIDE_EFFECTS__ */
export function anyList<T>(itemsName: string, sizeParameter = 'limit'): ListResult<T> {
  return { list: 'any', sizeParameter, itemsName };
}

/** The most items that the messaging service returns in one page (Limits, "List page size"). */
export const largestPage = 100;

/** The HTTP methods that the services use. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The key that a route requires: a secret key, either kind of key, none, or a secret key or the session
 * cookie of `auth.login()`.
 */
export type KeyRule = 'secret' | 'public-or-secret' | 'none' | 'secret-or-session';

/** The facts about one endpoint. The four type parameters are used by the compiler only. */
export interface Route<
  Path extends string = string,
  Query = unknown,
  Body = unknown,
  Returns extends SingleResult<unknown> | ListResult<unknown> =
    SingleResult<unknown> | ListResult<unknown>,
> {
  readonly method: Method;
  /** The path with its parameters in braces, as in the service's document. */
  readonly path: Path;
  readonly key: KeyRule;
  /**
   * May the call be sent again if its outcome is unknown? By default true for every method but POST. A POST row
   * whose repetition does no harm sets it to true.
   */
  readonly repeatable: boolean;
  /**
   * Can the call be made once under a key? True for calls whose repeat does harm, unless they upload a file.
   */
  readonly takesOnce: boolean;
  /** Does the call change anything that matters? Then its outcome is unknown if its response is lost. */
  readonly changes: boolean;
  readonly returns: Returns;
  /** Does the call take a body or a query, which must be checked? */
  readonly hasInput: boolean;
  /** How the file is sent, if the route uploads one. */
  readonly upload?: UploadFacts;
  /** Brings a copy of the body into the form that is checked and sent. */
  readonly normalize?: (body: Record<string, unknown>) => Record<string, unknown>;
  /** The largest JSON body that the service accepts, in bytes. */
  readonly maxBodyBytes?: number;
  /**
   * May an error with this status mean that part of the body was processed? Called before the body is
   * checked.
   */
  readonly partial?: (body: never, status: number | undefined) => boolean;
  /** Does the call count towards the service's rate limit? */
  readonly charged: boolean;
  /** Is this the generated row of `client.request()`? Its body may be any JSON value. */
  readonly isUntyped?: boolean;
  /** Does this body show that the call took effect, whatever its status or `success` is? */
  readonly isAccepted?: (body: unknown) => boolean;
  /** Used by the compiler only: never set. */
  readonly types?: { readonly query: Query; readonly body: Body };
}

/** How a file is sent in a multipart body. */
export interface UploadFacts {
  readonly field: string;
  /** The content type for bytes without one. */
  readonly contentType: string;
  readonly filename: string;
  readonly maxBytes?: number;
  /** May the file be given as text? */
  readonly takesText?: boolean;
  /**
   * Builds the body. Only rows with uploads refer to it, so that a bundle without them does not include it.
   */
  readonly form: (file: FileInput, facts: UploadFacts) => MultipartBody;
}

/** A multipart body, and the content type that names its boundary. */
export interface MultipartBody {
  readonly content: Blob;
  readonly contentType: string;
}

/** The facts that a row may state in addition to its method and path. */
export interface RouteFacts<
  Query,
  Body,
  Returns extends SingleResult<unknown> | ListResult<unknown>,
> {
  readonly query?: Shape<Query>;
  readonly body?: Shape<Body>;
  readonly returns?: Returns;
  readonly key?: KeyRule;
  readonly repeatable?: boolean;
  readonly takesOnce?: boolean;
  readonly changes?: boolean;
  readonly upload?: UploadFacts;
  readonly normalize?: (body: Record<string, unknown>) => Record<string, unknown>;
  readonly maxBodyBytes?: number;
  readonly partial?: (body: Body & {}, status: number | undefined) => boolean;
  readonly charged?: boolean;
  readonly isUntyped?: boolean;
  readonly isAccepted?: (body: unknown) => boolean;
}

type PathOf<Line extends string> = Line extends `${Method} ${infer Path}` ? Path : never;

/**
 * One row: `route('GET /contacts/{id}', { returns: ofType<Contact>() })`. By default a row needs a secret
 * key, every method but POST may be repeated, and every method but GET changes something.
 */
/* @__NO_SIDE_EFFECTS__ */
export function route<
  const Line extends `${Method} /${string}`,
  Query = undefined,
  Body = undefined,
  Returns extends SingleResult<unknown> | ListResult<unknown> = SingleResult<void>,
>(
  line: Line,
  facts: RouteFacts<Query, Body, Returns> = {},
): Route<PathOf<Line>, Query, Body, Returns> {
  const space = line.indexOf(' ');
  const method = line.slice(0, space) as Method; // as: the template literal type guarantees it
  const { query, body, ...stated } = facts;
  const { repeatable = method !== 'POST' } = stated;
  return {
    method,
    path: line.slice(space + 1) as PathOf<Line>, // as: by the template literal type
    key: 'secret',
    returns: nothing() as Returns, // as: the default is SingleResult<void>
    repeatable,
    takesOnce: !repeatable && !stated.upload,
    changes: method !== 'GET',
    charged: true,
    hasInput: query !== undefined || body !== undefined,
    ...stated,
  };
}

/** The names of a path's parameters: `'id' | 'stepId'`. */
export type ParameterNames<Path extends string> =
  Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParameterNames<Rest> : never;

/** One string per parameter, in path order. */
export type PathArguments<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? [string, ...PathArguments<Rest>]
  : [];

/** The result of a row's method: a {@link Call}, or a {@link Paginated} list. */
export type ResultOf<Returns> =
  Returns extends ListResult<infer Item>
    ? Paginated<Item>
    : Returns extends { readonly type?: infer T }
      ? Call<Exclude<T, undefined>>
      : never;

/** The type of the result of a row's call. */
export type Returned<R extends Route> = R['returns'] extends { readonly type?: infer T }
  ? Exclude<T, undefined>
  : never;

/** The type of the items of a row's list. */
export type ItemOf<R extends Route> = R['returns'] extends ListResult<infer Item> ? Item : never;

type Need<Key extends string, T> = [T] extends [undefined]
  ? { readonly [K in Key]?: never }
  : undefined extends T
    ? { readonly [K in Key]?: T }
    : { readonly [K in Key]: T };

/** The input of a row's call: path parameters and a body exactly if the row has them. */
export type InputOf<R extends Route> =
  R extends Route<infer Path, infer Query, infer Body>
    ? Need<'body', Body> & { readonly query?: Query | undefined } & ParametersOf<Path>
    : never;

type ParametersOf<Path extends string> = [ParameterNames<Path>] extends [never]
  ? { readonly params?: never }
  : { readonly params: { readonly [Name in ParameterNames<Path>]: string } };

type BodyArgument<Body> = [Body] extends [undefined]
  ? []
  : undefined extends Body
    ? [body?: Exclude<Body, undefined>]
    : [body: Body];
type QueryArgument<Query> = [Query] extends [undefined] ? [] : [query?: Exclude<Query, undefined>];

type OptionsOf<Returns> = Returns extends ListResult<unknown> ? ListOptions : RequestOptions;

type MethodOf<R> =
  R extends Route<infer Path, infer Query, infer Body, infer Returns>
    ? (
        ...args: [
          ...PathArguments<Path>,
          ...BodyArgument<Body>,
          ...QueryArgument<Query>,
          options?: OptionsOf<Returns>,
        ]
      ) => ResultOf<Returns>
    : never;

/** The methods that a table requires of its class, including nested tables. */
export type MethodsFor<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Route
    ? MethodOf<Table[Name]>
    : MethodsFor<Table[Name]>;
};

/** Only the names, for classes whose methods return something better than the response. */
export type NamesOf<Table> = { readonly [Name in keyof Table]: unknown };

/** The two methods of a zod schema that are used here. Comparing only these keeps type checking fast. */
export interface Schema<T> {
  parse(value: unknown): T;
  safeParse(value: unknown): {
    success: boolean;
    error?: { issues: readonly object[] } | undefined;
  };
}

/** The fields that a document lists for a body, and the names that people use instead. */
export interface KnownFields {
  readonly names: readonly string[];
  /**
   * Names that other services use; `undefined` for a name that resembles a field but means something else.
   */
  readonly aliases?: Readonly<Record<string, string | undefined>>;
  /** The field that takes the caller's own fields. */
  readonly custom?: string;
  /** The known fields of the items of one field. */
  readonly items?: Omit<KnownFields, 'items'> & { readonly of: string };
}

/** A notice about a valid body: a warning text, or a field for which the call is rejected after all. */
export type Notice = string | FieldError;

/** The schemas of one row, as the transport uses them. */
export interface RouteSchemas {
  readonly query?: Schema<unknown>;
  readonly body?: Schema<unknown>;
  readonly returns?: Schema<unknown>;
  /** The fields of the body, if the document lists them all: any other field causes a warning. */
  readonly known?: KnownFields;
  /** The fields of the query, likewise. */
  readonly knownQuery?: KnownFields;
  /** The parts of a valid body that will have no effect. */
  readonly warnings?: (body: never, rules?: DataOptions) => readonly Notice[];
}

type RequiredSchema<Key extends string, T> = [T] extends [undefined]
  ? { readonly [K in Key]?: never }
  : { readonly [K in Key]: Schema<Exclude<T, undefined>> };

type ReturnsSchema<Returns> =
  Returns extends ListResult<infer Item>
    ? { readonly returns: Schema<Item> }
    : Returns extends { readonly type?: infer T }
      ? // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a result of nothing is void
        [Exclude<T, undefined>] extends [void]
        ? { readonly returns?: never }
        : { readonly returns: Schema<Exclude<T, undefined>> }
      : never;

type SchemasOf<R> =
  R extends Route<string, infer Query, infer Body, infer Returns>
    ? RequiredSchema<'query', Query> &
        RequiredSchema<'body', Body> &
        ReturnsSchema<Returns> & {
          readonly known?: KnownFields;
          readonly knownQuery?: KnownFields;
          readonly warnings?: (
            body: Exclude<Body, undefined>,
            rules?: DataOptions,
          ) => readonly Notice[];
        }
    : never;

/** A schema entry for every row of a table, including nested tables. A missing entry is a type error. */
export type SchemasFor<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Route
    ? SchemasOf<Table[Name]>
    : SchemasFor<Table[Name]>;
};

/** Finds the schemas of each row. A table and its schemas have the same names at every level. */
export function mapSchemas<const Table extends object>(
  table: Table,
  schemas: SchemasFor<Table>,
): ReadonlyMap<Route, RouteSchemas> {
  return new Map(pairRows(table, schemas));
}

/** Does a table contain a row for this call, e.g. `POST /v1/send`? */
export function hasRow(table: object, call: string): boolean {
  return Object.values(table).some((row: unknown) => {
    if (!isRecord(row)) {
      return false;
    }
    const { method, path } = row;
    return typeof method === 'string' ? `${method} ${String(path)}` === call : hasRow(row, call);
  });
}

function* pairRows(table: object, schemas: object): Generator<[Route, RouteSchemas]> {
  for (const [name, row] of Object.entries(table) as [string, unknown][]) {
    const entry: unknown = Reflect.get(schemas, name);
    if (!isRecord(row) || !isRecord(entry)) {
      continue;
    }
    if (typeof row['method'] === 'string') {
      yield [row as unknown as Route, entry]; // as: a row has a method
    } else {
      yield* pairRows(row, entry);
    }
  }
}
