import { isRecord } from './records.js';
import type { Route } from './route.js';
import type { RouteSchemas, SchemasFor } from './schemas.js';

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
