import * as z from 'zod/mini';
import { isRecord } from '../../src/core/values.js';
import type { Schema } from '../../src/core/call/route.js';

/** A JSON schema, as far as this script reads it. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** The schema of a row as JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export function jsonSchemaOf(
  schema: Schema<unknown>,
  io: 'input' | 'output' = 'input',
): JsonSchema {
  const zod = schema as unknown as z.core.$ZodType; // the rows compare through two lines of it
  // Rules that are code, e.g. "a date in the future", have no words in JSON Schema.
  const words = Object.entries(z.toJSONSchema(zod, { io, unrepresentable: 'any' }));
  const own = Object.fromEntries(words.filter(([name]) => name !== '$schema'));
  return forEveryTool(own) as JsonSchema; // as: an object stays one
}

/** Some tools know no lists of types and no constants: both can be said otherwise. */
function forEveryTool(schema: unknown): unknown {
  if (Array.isArray(schema)) {
    return schema.map(forEveryTool);
  }
  if (!isRecord(schema)) {
    return schema;
  }
  const { type, const: constant, ...rest } = schema;
  const others = Object.entries(rest).map(([name, value]) => [name, forEveryTool(value)]);
  const words: Record<string, unknown> = Object.fromEntries(others) as Record<string, unknown>;
  if (constant !== undefined) {
    return { ...words, type: typeof constant, enum: [constant] };
  }
  if (!Array.isArray(type)) {
    return { ...words, ...(type !== undefined && { type: forEveryTool(type) }) };
  }
  return {
    anyOf: type.map((one: unknown) => (one === 'null' ? { type: one } : { ...words, type: one })),
  };
}
