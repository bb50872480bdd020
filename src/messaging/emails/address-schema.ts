import * as z from 'zod/mini';
import { isRecord } from '../../core/values.js';
import { displayName, email } from '../shared/values-schema.js';
import type { Address, Recipients } from './types.js';

interface Problem {
  readonly path: PropertyKey[];
  readonly message: string;
}

/** A sender: an email address, alone or with a name. */
export const address = z.custom<Address>().check((context) => {
  for (const problem of addressProblems(context.value, [])) {
    context.issues.push({ code: 'custom', input: context.value, ...problem });
  }
});

/** One recipient or a non-empty list of them. */
export const recipients = z.custom<Recipients>().check((context) => {
  for (const problem of recipientProblems(context.value)) {
    context.issues.push({ code: 'custom', input: context.value, ...problem });
  }
});

// Written out by hand: for a union, zod reports only that it fails.
function* recipientProblems(value: unknown): Generator<Problem> {
  if (!Array.isArray(value)) {
    yield* addressProblems(value, []);
    return;
  }
  const list = value as unknown[]; // isArray() narrows to any[]
  if (list.length === 0) {
    yield { path: [], message: 'must not be empty' };
  }
  for (const [index, one] of list.entries()) {
    yield* addressProblems(one, [index]);
  }
}

function* addressProblems(value: unknown, path: PropertyKey[]): Generator<Problem> {
  if (value === undefined) {
    yield { path, message: 'is required' };
  } else if (typeof value === 'string') {
    yield* emailProblems(value, path);
  } else if (isRecord(value)) {
    yield* namedProblems(value, path);
  } else {
    yield { path, message: 'must be an email address or { name, email }' };
  }
}

function* namedProblems(value: Record<string, unknown>, path: PropertyKey[]): Generator<Problem> {
  const { name } = value;
  if (name !== undefined && typeof name !== 'string') {
    yield { path: [...path, 'name'], message: 'must be a string' };
  } else if (name !== undefined && !displayName.safeParse(name).success) {
    yield { path: [...path, 'name'], message: 'must not contain a line break' };
  }
  yield* emailProblems(value['email'], [...path, 'email']);
}

function* emailProblems(value: unknown, path: PropertyKey[]): Generator<Problem> {
  if (value === undefined) {
    yield { path, message: 'is required' };
  } else if (!email.safeParse(value).success) {
    yield { path, message: emailProblem(value) };
  }
}

// "Ann <ann@example.com>" is how email programs write it.
function emailProblem(value: unknown): string {
  const isNamed = typeof value === 'string' && /<[^<>]*>\s*$/.test(value);
  return isNamed
    ? 'must be an email address alone; use { name, email } for a display name'
    : 'must be an email address';
}
