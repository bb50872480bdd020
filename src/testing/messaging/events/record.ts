import { addActivity } from '../activity/feed.js';
import type { Contact, Scope, TrackedEvent } from '../state.js';

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
    createdAt: world.clock.date(),
  };
  project.events.push(event);
  addActivity(scope, { type: 'event.tracked', contactId: contact.id, event: name });
  for (const listen of world.listeners) {
    listen(scope, contact, event);
  }
  return event;
}
