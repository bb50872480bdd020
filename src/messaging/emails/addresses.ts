import { isRecord } from '../../core/values.js';
import { emailKey } from '../contacts/job-ends.js';
import { fieldsOf } from '../shared/request-body.js';

/** The email with its sender and recipients in the form of the document, from the forms in which people write them. */
export function withAddresses<Body>(body: Body): Body {
  if (!isRecord(body)) {
    return body; // refused, with its reason, when the call is built
  }
  const fields = fieldsOf(body);
  const from = documented(fields['from']);
  const given: unknown = fields['to'];
  const to: unknown = Array.isArray(given) ? given.map(documented) : documented(given);
  const own = {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
  return { ...fields, ...own } as Body; // the same email
}

// "Ann Lee" <ann@example.com>
const named = /^\s*(?:"((?:[^"\\]|\\.)*)"|([^<>"]*?))\s*<\s*([^<>\s]+)\s*>\s*$/;

function documented(value: unknown): unknown {
  if (typeof value === 'string') {
    const [whole, quoted, plain = '', email] = named.exec(value) ?? [];
    const name = quoted?.replace(/\\(.)/g, '$1') ?? plain;
    return whole === undefined ? value.trim() : name === '' ? email : { name, email };
  }
  if (isRecord(value) && value['email'] === undefined && typeof value['address'] === 'string') {
    const { address, ...rest } = value; // as in other packages
    return rest['name'] === '' ? { email: address } : { ...rest, email: address };
  }
  return value;
}

/** Who of several recipients has no email in the answer; empty where the answer does not tell. */
export function withoutEmail(to: readonly unknown[], answer: unknown): readonly string[] {
  const emails: unknown = isRecord(answer) ? answer['emails'] : undefined;
  if (!Array.isArray(emails) || emails.length >= to.length) {
    return [];
  }
  const mailed = new Set(
    emails.map((email) => emailKey(emailIn(isRecord(email) ? email['contact'] : ''))),
  );
  return to.map(emailIn).filter((email) => !mailed.has(emailKey(email)));
}

/** The places of recipients who come before in the same list. */
export function repeated(to: unknown): readonly number[] {
  const seen = new Set<string>();
  const list: readonly unknown[] = Array.isArray(to) ? to : [];
  return list.flatMap((one, at) => {
    const key = emailKey(emailIn(one));
    const isAgain = seen.has(key);
    seen.add(key);
    return isAgain ? [at] : [];
  });
}

function emailIn(value: unknown): string {
  const email = isRecord(value) ? value['email'] : value;
  return typeof email === 'string' ? email : '';
}
