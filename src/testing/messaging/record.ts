import type { ActivityEntry, Project, Scope, SentEmail, Contact, TrackedEvent } from './state.js';

/** Adds an entry to the activity feed of the project. */
export function addActivity(
  { world, project }: Scope,
  entry: { readonly type: string; readonly contactId?: string; readonly [field: string]: unknown },
): void {
  project.activity.push({
    ...entry,
    id: world.id('act'),
    createdAt: world.clock.date().toISOString(),
  });
}

/** The whole feed, newest first: the recorded entries, and the recipients' reactions to their emails. */
export function feedOf({ activity, outbox }: Project): ActivityEntry[] {
  const entries = [...activity, ...outbox.flatMap(reactions)];
  // Reversed before a stable sort, so that of two entries of the same time the later comes first.
  return entries.reverse().sort(byNewest);
}

/** messaging, Events 4: opens, clicks, bounces, complaints; the type identifiers are not shown. */
function reactions(email: SentEmail): ActivityEntry[] {
  const entries: ActivityEntry[] = [];
  for (const [type, prefix, at] of [
    ['email.opened', 'opn', email.openedAt],
    ['email.clicked', 'clk', email.clickedAt],
    ['email.bounced', 'bnc', email.bouncedAt],
    ['email.complained', 'cmp', email.complainedAt],
  ] as const) {
    if (at === undefined) {
      continue;
    }
    const id = email.id.replace('eml', prefix);
    entries.push({ id, type, contactId: email.contactId, emailId: email.id, createdAt: at });
  }
  return entries;
}

function byNewest(one: ActivityEntry, other: ActivityEntry): number {
  if (one.createdAt === other.createdAt) {
    return 0;
  }
  return one.createdAt < other.createdAt ? 1 : -1;
}

/** Records an event of a contact, and starts the workflows that listen for it. */
export function recordEvent(
  scope: Scope,
  contact: Contact,
  name: string,
  data: Record<string, unknown> = {},
): TrackedEvent {
  const { world, project } = scope;
  const event: TrackedEvent = {
    id: world.id('evt'),
    contactId: contact.id,
    name,
    data,
    createdAt: world.clock.date().toISOString(),
  };
  project.events.push(event);
  addActivity(scope, { type: 'event.tracked', contactId: contact.id, event: name });
  for (const listen of world.listeners) {
    listen(scope, contact, event);
  }
  return event;
}
