import { recordEvent } from '../events/record.js';
import type { Contact, Scope, Segment } from '../state.js';
import { matches } from './filter.js';

/** The members as of now: live for dynamic segments, those added for static ones. */
export function membersOf(scope: Scope, segment: Segment): Contact[] {
  const contacts = [...scope.project.contacts.values()];
  return segment.type === 'DYNAMIC'
    ? contacts.filter((contact) => matches(scope, contact, segment.condition))
    : contacts.filter(({ id }) => segment.members.has(id));
}

/** Counts the members anew, with no events and no writes to the membership. */
export function refreshCount(scope: Scope, segment: Segment): number {
  segment.memberCount = membersOf(scope, segment).length;
  return segment.memberCount;
}

/** messaging, Segments: recomputes the membership, and fires an event for each contact that came or went. */
export function computeMembership(scope: Scope, segment: Segment): object {
  const now = new Set(membersOf(scope, segment).map(({ id }) => id));
  const exited = [...segment.members].filter((id) => !now.has(id));
  const entered = [...now].filter((id) => !segment.members.has(id));
  segment.members.clear();
  for (const id of now) {
    segment.members.add(id);
  }
  segment.memberCount = now.size;
  fire(scope, segment, { kind: 'exit', contactIds: exited });
  fire(scope, segment, { kind: 'entry', contactIds: entered });
  return { memberCount: now.size, entered: entered.length, exited: exited.length };
}

/** The names of these events are not shown. */
function fire(
  scope: Scope,
  { id, name }: Segment,
  change: { readonly kind: 'entry' | 'exit'; readonly contactIds: readonly string[] },
): void {
  for (const contactId of change.contactIds) {
    const contact = scope.project.contacts.get(contactId);
    if (contact === undefined) {
      continue;
    }
    const isDotted = scope.world.settings.eventNames === 'dotted';
    const event = isDotted ? `segment.${id}.${change.kind}` : `segment_${change.kind}`;
    recordEvent(scope, contact, event, { segmentId: id, segment: name });
  }
}
