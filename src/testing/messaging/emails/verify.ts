import type { FakeAnswer, FakeRequest } from '../../core/types.js';
import { readBody } from '../validate.js';

/** messaging, POST /v1/verify: judged by small lists, since a fake asks no name server. */
export function verify(request: FakeRequest): FakeAnswer {
  const email = readBody(request, (fields) => fields.requiredEmail('email'));
  return { body: { success: true, data: judge(email) } };
}

const disposable = new Set([
  'mailinator.com',
  'guerrillamail.com',
  'yopmail.com',
  '10minutemail.com',
]);
const personal = new Set(['gmail.com', 'outlook.com', 'hotmail.com', 'yahoo.com', 'icloud.com']);
const aliasing = new Set([
  'duck.com',
  'simplelogin.com',
  'mozmail.com',
  'privaterelay.appleid.com',
]);
const typos = new Set([
  'gmial.com',
  'gamil.com',
  'gmal.com',
  'hotmial.com',
  'yaho.com',
  'outlok.com',
]);

function judge(email: string) {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1).toLowerCase();
  // `.invalid` never exists (RFC 2606); `no-mx.` and `no-website.` are this fake's own words.
  const domainExists = !domain.endsWith('.invalid');
  const facts = {
    isDisposable: disposable.has(domain),
    isAlias: aliasing.has(domain),
    isTypo: typos.has(domain),
    isPlusAddressed: email.slice(0, at).includes('+'),
    isPersonalEmail: personal.has(domain),
    domainExists,
    hasWebsite: domainExists && !domain.startsWith('no-website.'),
    hasMxRecords: domainExists && !domain.startsWith('no-mx.'),
  };
  const reasons = reasonsAgainst(facts);
  return { email, valid: reasons.length === 0, ...facts, reasons };
}

interface Facts {
  readonly isDisposable: boolean;
  readonly isTypo: boolean;
  readonly domainExists: boolean;
  readonly hasMxRecords: boolean;
}

/** Aliases, plus addresses and personal providers are told, but nothing is wrong with them. */
function reasonsAgainst({ isDisposable, isTypo, domainExists, hasMxRecords }: Facts): string[] {
  return [
    ...(domainExists ? [] : ['The domain does not exist.']),
    ...(domainExists && !hasMxRecords ? ['The domain has no MX records.'] : []),
    ...(isDisposable ? ['The domain belongs to a disposable email service.'] : []),
    ...(isTypo ? ['The domain looks like a misspelling.'] : []),
  ];
}
