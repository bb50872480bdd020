import { isRecord } from './records.js';
import type { DataOptions } from './client-options.js';
import type { FieldError } from '../errors/base-error.js';
import type { List, Route } from './route.js';

/** The two lines of a zod schema that we rely on; comparing through them keeps types cheap. */
export interface Schema<T> {
  parse(value: unknown): T;
  safeParse(value: unknown): {
    success: boolean;
    error?: { issues: readonly object[] } | undefined;
  };
}

/** The fields that a document lists for a body, and what people write in their place. */
export interface KnownFields {
  readonly names: readonly string[];
  /** Names that other services use. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The same of the items of one field. */
  readonly items?: { readonly of: string; readonly names: readonly string[] };
}

/** About a valid body: a warning in words, or a field for which the call is refused after all. */
export type Notice = string | FieldError;

/** The schemas of one row, as the transport uses them. */
export interface RouteSchemas {
  readonly query?: Schema<unknown>;
  readonly body?: Schema<unknown>;
  readonly returns?: Schema<unknown>;
  /** Where the document lists all fields of the body: others are a warning. */
  readonly known?: KnownFields;
  /** The same for the query. */
  readonly knownQuery?: KnownFields;
  /** Things in a valid body that will have no effect. */
  readonly warnings?: (body: never, rules?: DataOptions) => readonly Notice[];
}

type Required<Key extends string, T> = [T] extends [undefined]
  ? { readonly [K in Key]?: never }
  : { readonly [K in Key]: Schema<Exclude<T, undefined>> };

type ReturnsSchema<Returns> =
  Returns extends List<infer Item>
    ? { readonly returns: Schema<Item> }
    : Returns extends { readonly type?: infer T }
      ? // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a result of nothing is void
        [Exclude<T, undefined>] extends [void]
        ? { readonly returns?: never }
        : { readonly returns: Schema<Exclude<T, undefined>> }
      : never;

type SchemasOf<R> =
  R extends Route<string, infer Query, infer Body, infer Returns>
    ? Required<'query', Query> &
        Required<'body', Body> &
        ReturnsSchema<Returns> & {
          readonly known?: KnownFields;
          readonly knownQuery?: KnownFields;
          readonly warnings?: (
            body: Exclude<Body, undefined>,
            rules?: DataOptions,
          ) => readonly Notice[];
        }
    : never;

/** A schema entry for every row of a table, nested tables included; a missing one is an error. */
export type SchemasFor<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Route
    ? SchemasOf<Table[Name]>
    : SchemasFor<Table[Name]>;
};

/** Finds the schemas of each row: a table and its schemas have the same names all the way down. */
export function schemaMap<const Table extends object>(
  table: Table,
  schemas: SchemasFor<Table>,
): ReadonlyMap<Route, RouteSchemas> {
  return new Map(pairs(table, schemas));
}

function* pairs(table: object, schemas: object): Generator<[Route, RouteSchemas]> {
  for (const [name, row] of Object.entries(table) as [string, unknown][]) {
    const entry: unknown = Reflect.get(schemas, name);
    if (!isRecord(row) || !isRecord(entry)) {
      continue;
    }
    if (typeof row['method'] === 'string') {
      yield [row as unknown as Route, entry];
    } // a row has a method
    else {
      yield* pairs(row, entry);
    }
  }
}
