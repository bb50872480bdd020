import { expect } from 'vitest';
import type { FakeMessaging } from 'postreel/testing';

/** The parts of a call in addition to its method and path. */
export interface CallOptions {
  body?: unknown;
  form?: FormData;
  /** In place of the secret key; `null` for none. */
  key?: string | null;
  cookie?: string;
}

/** An answer with its body read. */
export interface Called {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Answer;
}

/** The fields of all the answers that tests reach into; each answer has some of them. */
export interface Answer {
  readonly id: string;
  readonly jobId: string;
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly url: string;
  readonly secretKey: string;
  readonly success: boolean;
  readonly valid: boolean;
  readonly subscribed: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly status: string;
  readonly state: string;
  readonly progress: number;
  readonly send: number;
  readonly total: number;
  readonly cursor: string;
  readonly hasMore: boolean;
  readonly condition: unknown;
  readonly user: Answer;
  readonly contact: string;
  /** A list, custom fields, or the inside of an envelope. */
  readonly data: readonly Answer[] & Answer & Readonly<Record<'key' | 'plan', unknown>>;
  readonly contacts: readonly Answer[];
  readonly emails: readonly Answer[];
  readonly fields: readonly { readonly field: string; readonly type: string }[];
  readonly values: readonly unknown[];
  readonly result: unknown;
  readonly notFound: readonly string[];
  readonly segments: readonly unknown[];
  readonly workflows: readonly unknown[];
  readonly steps: readonly unknown[];
  readonly transitions: readonly unknown[];
  readonly error: {
    readonly code: string;
    readonly requestId: string;
    readonly errors: readonly { readonly field: string }[];
  };
}

/** Asymmetric matchers without their `any`. */
export const someText: unknown = expect.any(String);
export const textLike = (pattern: RegExp): unknown => expect.stringMatching(pattern);

/** Calls a fake by raw fetch, e.g. `call(fake, 'GET /contacts')`. */
export async function call(
  fake: FakeMessaging,
  endpoint: string,
  { body, form, key = fake.secretKey, cookie }: CallOptions = {},
): Promise<Called> {
  const [method = '', path = ''] = endpoint.split(' ');
  const response = await fake.fetch(fake.baseUrl + path, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(cookie !== undefined && { cookie }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(form ? { body: form } : body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { status, headers } = response;
  // JSON.parse answers any; an answer without a body has none of the fields.
  const answer = (text === '' ? {} : JSON.parse(text)) as Answer;
  return { status, headers, body: answer };
}

/** A call that must succeed, and the body of its answer. */
export async function ok(
  fake: FakeMessaging,
  endpoint: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { status, body } = await call(fake, endpoint, options);
  if (status >= 300) {
    throw new Error(`${endpoint} answered ${status}: ${JSON.stringify(body)}`);
  }
  return body;
}

/** The fields that a 422 complains about. */
export function badFields({ status, body }: Called): string[] {
  if (status !== 422) {
    throw new Error(`Expected 422, got ${status}: ${JSON.stringify(body)}`);
  }
  return body.error.errors.map(({ field }) => field);
}
