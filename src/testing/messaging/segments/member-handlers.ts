import { Refusal } from '../../core/http/refusal.js';
import type { FakeRequest, Handlers } from '../../core/types.js';
import { contactByEmail, upsertContact } from '../contacts/store.js';
import { listAnswer } from '../lists.js';
import type { Scope, Segment } from '../state.js';
import { invalidField, isEmail, readBody } from '../validate.js';
import { findSegment } from '../find.js';
import { membersOf, refreshCount } from './members.js';

/** Who is in a segment; the answers to changes are not shown. */
export const handlers: Handlers<Scope> = {
  'GET /segments/{id}/contacts': (request, scope) => {
    const items = membersOf(scope, findSegment(scope, request));
    return listAnswer(scope, request, { items, name: 'contacts', style: 'page' });
  },

  'POST /segments/{id}/members': (request, scope) => {
    const segment = findStatic(scope, request);
    return { body: { ...addMembers(scope, request, segment), memberCount: segment.memberCount } };
  },

  'DELETE /segments/{id}/members': (request, scope) => {
    const segment = findStatic(scope, request);
    const emails = readBody(request, (fields) => fields.texts('emails'));
    const ids = emails.map((email) => contactByEmail(scope, email)?.id ?? '');
    const removed = ids.filter((id) => segment.members.delete(id)).length;
    return { body: { removed, memberCount: refreshCount(scope, segment) } };
  },
};

/** messaging, Segments: static only. */
function findStatic(scope: Scope, request: FakeRequest): Segment {
  const segment = findSegment(scope, request);
  if (segment.type === 'STATIC') {
    return segment;
  }
  throw new Refusal(400, 'BAD_REQUEST', 'The members of a DYNAMIC segment follow its condition.');
}

interface Added {
  added: number;
  created: number;
  /** Emails without a contact, when `createMissing` is not set. */
  readonly missing: string[];
}

function addMembers(scope: Scope, request: FakeRequest, segment: Segment): Added {
  const { emails, createMissing, subscribed } = readBody(request, (fields) => ({
    emails: fields.texts('emails'),
    createMissing: fields.boolean('createMissing') ?? false,
    // The state of created contacts; without it that of `POST /contacts` (not shown).
    subscribed: fields.boolean('subscribed') ?? true,
  }));
  if (!emails.every(isEmail)) {
    throw invalidField('emails', '`emails` must be email addresses.');
  }
  const result: Added = { added: 0, created: 0, missing: [] };
  for (const email of emails) {
    const known = contactByEmail(scope, email);
    if (known === undefined && !createMissing) {
      result.missing.push(email);
      continue;
    }
    result.created += Number(known === undefined);
    const { id } = known ?? upsertContact(scope, email, { defaultSubscribed: subscribed }).contact;
    result.added += Number(!segment.members.has(id));
    segment.members.add(id);
  }
  refreshCount(scope, segment);
  return result;
}
