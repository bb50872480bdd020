import { defaultSender } from '../domains/senders.js';
import type { Campaign, Contact, Scope, SentEmail, TrackedEvent } from '../state.js';
import { pick, times } from './making.js';

const minuteMs = 60_000;
const eventNames = ['signup', 'login', 'order.placed', 'page.viewed'];

/** Events of the past, one per minute; no listener gets them, so that no workflow starts. */
export function seedEvents(
  { world, project }: Scope,
  count: number,
  people: readonly Contact[],
): TrackedEvent[] {
  const eventTimes = pastTimes(world.clock.now(), count);
  const events = times(count, (index): TrackedEvent => {
    const contactId = pick(people, index).id;
    const [name, createdAt] = [pick(eventNames, index), pick(eventTimes, index)];
    project.activity.push({
      id: world.id('act'),
      type: 'event.tracked',
      contactId,
      event: name,
      createdAt,
    });
    return { id: world.id('evt'), contactId, name, data: { number: index + 1 }, createdAt };
  });
  for (const event of events) {
    project.events.push(event);
  }
  return events;
}

/** Emails of the past, one per minute, from the campaigns in turn. */
export function seedEmails(
  { world, project }: Scope,
  count: number,
  { people, campaigns }: { readonly people: readonly Contact[]; readonly campaigns: Campaign[] },
): SentEmail[] {
  const sentTimes = pastTimes(world.clock.now(), count);
  const from = defaultSender(project);
  if (count > 0) {
    for (const campaign of campaigns) {
      campaign.status = 'SENT';
    }
  }
  return times(count, (index) => {
    const [contact, sentAt] = [pick(people, index), pick(sentTimes, index)];
    const email: SentEmail = {
      id: world.id('eml'),
      projectId: project.id,
      contactId: contact.id,
      to: contact.email,
      from,
      subject: `News ${index + 1}`,
      body: '<p>Hello</p>',
      headers: {},
      attachments: [],
      variables: {},
      ...sourceOf(campaigns, index),
      sentAt,
      ...reactionsOf(index, sentAt),
    };
    project.outbox.push(email);
    world.outbox.push(email);
    project.activity.push({
      id: world.id('act'),
      type: 'email.sent',
      contactId: contact.id,
      emailId: email.id,
      createdAt: sentAt,
    });
    return email;
  });
}

function sourceOf(campaigns: readonly Campaign[], index: number) {
  if (campaigns.length === 0) {
    return { source: 'send' } as const;
  }
  return { source: 'campaign', sourceId: pick(campaigns, index).id } as const;
}

function reactionsOf(index: number, at: string) {
  if (index % 50 === 49) {
    return { bouncedAt: at };
  }
  return {
    ...(index % 2 === 0 && { openedAt: at }),
    ...(index % 10 < 4 && index % 2 === 0 && { clickedAt: at }),
  };
}

/** So many times, a minute apart, the last one now. */
function pastTimes(now: number, count: number): string[] {
  return times(count, (index) => new Date(now - (count - index - 1) * minuteMs).toISOString());
}
