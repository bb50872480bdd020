import { samples } from '../../../test/support/contract/samples.js';
import type { Row } from '../../openapi/rows.js';

/** A call of a method as one would write it, with the sample that our tests send to the fake. */
export function exampleOf({ sdk, route }: Row): string {
  const sample = samples[sdk];
  const input = sample?.body ?? sample?.query;
  const isEmpty = input === undefined || Object.keys(input).length === 0;
  const ids = [...route.path.matchAll(/\{(\w+)\}/g)].map(
    ([, name = '']) => `'${idFor(sdk, name)}'`,
  );
  const call = `${sdk}(${[...ids, ...(isEmpty ? [] : [literal(input)])].join(', ')})`;
  const { returns } = route;
  if (returns.list !== undefined) {
    return `for await (const item of ${call}) {\n  console.log(item);\n}`;
  }
  return returns.isNothing ? `await ${call};` : `const result = await ${call};`;
}

function idFor(sdk: string, name: string): string {
  const resource = sdk.split('.')[1] ?? '';
  const known: Record<string, string> = {
    field: 'data.plan',
    eventName: 'signed_up',
    jobId: 'job_1',
  };
  const owner = name === 'id' ? resource.replace(/s$/, '') : name.replace(/Id$/, '');
  return known[name] ?? `${owner}_1`;
}

/** A value as source code. */
function literal(value: unknown): string {
  if (value instanceof Uint8Array) {
    return `new Uint8Array([${[...value].join(', ')}])`;
  }
  if (Array.isArray(value)) {
    return `[${value.map(literal).join(', ')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, own]) => `${name}: ${valueOf(name, own)}`);
    return `{ ${entries.join(', ')} }`;
  }
  return typeof value === 'string' ? quoted(value) : JSON.stringify(value);
}

/** A time to come is written as such: the page is the same on every day. */
function valueOf(name: string, value: unknown): string {
  return name === 'scheduledFor'
    ? 'new Date(Date.now() + 3_600_000).toISOString()'
    : literal(value);
}

function quoted(text: string): string {
  return `'${text.replaceAll('\n', String.raw`\n`).replaceAll("'", String.raw`\'`)}'`;
}
