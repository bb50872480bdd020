import * as z from 'zod/mini';
import { isRecord } from '../core/values.js';
import type { SchemasFor } from '../core/call/route.js';
import { limits } from './limits.js';
import { contactData, dataWarnings } from './shared/data.schemas.js';
import { displayName, email, id, knownOf, subject } from './shared/values.schemas.js';
import {
  findRepeated,
  type routes,
  type SendRequest,
  type Address,
  type Recipients,
} from './emails.js';
import { attachmentProblems } from './emails/attachments.js';
import { emailOf, emailProblem, normalizeAddress, normalizeEmail } from './shared/values.js';

const lineBreak = /[\r\n]/;
const headerValue = z.string().check(
  z.maxLength(limits.headerLength),
  z.refine((text) => !lineBreak.test(text), 'must not contain a line break'),
);

const headers = z.record(z.string(), headerValue).check((context) => {
  if (!Object.keys(context.value).some((name) => lineBreak.test(name))) {
    return;
  }
  const message = 'must not have a name that contains a line break';
  context.issues.push({ code: 'custom', path: [], message, input: context.value });
});

const attachment = z
  .custom<Record<string, unknown>>(
    isRecord,
    'must be an object with the content of the file, such as { filename, content, contentType }: read the file first',
  )
  .check((context) => {
    for (const { path, message } of attachmentProblems(context.value)) {
      context.issues.push({ code: 'custom', path: [...path], message, input: context.value });
    }
  });

// The names of an attachment's fields in other packages, for the hint in the warning.
const attachmentFields = {
  of: 'attachments',
  names: ['filename', 'content', 'contentType'],
  aliases: {
    name: 'filename',
    type: 'contentType',
    mimeType: 'contentType',
    data: 'content',
    file: 'content',
    contentId: undefined,
    contentDisposition: undefined,
  },
};

/** A sender: an email address, alone or with a name. */
const address = z.custom<Address>().check((context) => {
  for (const problem of addressProblems(context.value, [])) {
    context.issues.push({ code: 'custom', input: context.value, ...problem });
  }
});

/** One recipient or a non-empty list of them. */
const recipients = z.custom<Recipients>().check((context) => {
  for (const problem of recipientProblems(context.value)) {
    context.issues.push({ code: 'custom', input: context.value, ...problem });
  }
});

// The names of these fields in other services, for the hint in the warning.
const sendAliases = {
  html: 'body',
  htmlBody: 'body',
  replyTo: 'reply',
  sender: 'from',
  recipients: 'to',
  templateId: 'template',
  too: 'to',
  variables: 'data',
};

const sendFields = z.looseObject({
  to: recipients,
  template: z.optional(id),
  from: z.optional(address),
  subject: z.optional(subject),
  body: z.optional(z.string().check(z.minLength(1))),
  name: z.optional(displayName),
  subscribed: z.optional(z.boolean()),
  data: z.optional(contactData),
  headers: z.optional(headers),
  reply: z.optional(email),
  attachments: z.optional(z.array(attachment).check(z.maxLength(limits.attachments))),
});

// "content is either a template id or both subject and body". A template may contain the sender too.
const sendBody = sendFields.check((context) => {
  const { value } = context;
  if (value.template !== undefined) {
    return;
  }
  for (const field of ['from', 'subject', 'body'] as const) {
    if (value[field] !== undefined) {
      continue;
    }
    const message = 'is required unless `template` is set';
    // If `template` is misspelled, all other fields seem to be missing: the error then suggests `template`.
    const instead = 'template';
    context.issues.push({ code: 'custom', path: [field], message, instead, input: value });
  }
});

// Any text is allowed as an address, because the service is called to check it.
const verifyBody = z.looseObject({ email: z.string().check(z.minLength(1)) });

const sendResult = z.looseObject({
  emails: z.array(
    z.looseObject({
      contact: z.looseObject({ id: z.string(), email: z.string() }),
      email: z.string(),
    }),
  ),
  timestamp: z.string(),
});

const verification = z.looseObject({
  email: z.string(),
  valid: z.boolean(),
  isDisposable: z.boolean(),
  isAlias: z.boolean(),
  isTypo: z.boolean(),
  isPlusAddressed: z.boolean(),
  isPersonalEmail: z.boolean(),
  domainExists: z.boolean(),
  hasWebsite: z.boolean(),
  hasMxRecords: z.boolean(),
  reasons: z.array(z.string()),
});

export const schemas = {
  send: {
    body: sendBody as unknown as z.ZodMiniType<SendRequest>, // its check() enforces the union
    returns: sendResult,
    known: {
      names: Object.keys(sendFields.shape),
      aliases: sendAliases,
      items: attachmentFields,
    },
    warnings: (body, rules) => [
      ...nameWarnings(body),
      ...repeatedWarnings(body.to),
      ...dataWarnings(body.data, rules),
    ],
  },
  verify: { body: verifyBody, returns: verification, known: knownOf(verifyBody) },
} satisfies SchemasFor<typeof routes>;

function nameWarnings({ name, from }: { name?: unknown; from?: unknown }): readonly string[] {
  if (name === undefined || !isRecord(from)) {
    return [];
  }
  return ['`name` has no effect when `from` is an object. Use `from: { name, email }`.'];
}

function repeatedWarnings(to: unknown): readonly string[] {
  return findRepeated(to).map(
    (at) =>
      `\`to[${at}]\` repeats an earlier recipient: the service sends one email for each entry.`,
  );
}

interface Problem {
  readonly path: PropertyKey[];
  readonly message: string;
}

// Written by hand, because zod reports for a union only that it does not match.
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
    yield* emailProblems(emailOf(normalizeAddress(value)), path);
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
  const message = value === undefined ? 'is required' : emailProblem(normalizeEmail(value));
  if (message !== undefined) {
    yield { path, message };
  }
}
