import * as z from 'zod/mini';
import { isRecord } from '../../core/values.js';
import { emailProblem } from '../shared/values.js';
import { displayName } from '../shared/values-schema.js';
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
  for (const field of Object.keys(value)) {
    if (field !== 'name' && field !== 'email' && value[field] !== undefined) {
      yield { path: [...path, field], message: ofOneRecipient };
    }
  }
  yield* emailProblems(value['email'], [...path, 'email']);
}

const ofOneRecipient =
  'has no effect here: an address is { name, email }. `sendEach()` takes `data`, `attachments` and more for each recipient';

function* emailProblems(value: unknown, path: PropertyKey[]): Generator<Problem> {
  const message = value === undefined ? 'is required' : emailProblem(value);
  if (message !== undefined) {
    yield { path, message };
  }
}
