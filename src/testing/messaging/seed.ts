import { flag, readOptions, wholeNumber, type OptionKinds } from '../../core/options.js';
import type {
  Campaign,
  Contact,
  Scope,
  Segment,
  SentEmail,
  Template,
  TrackedEvent,
  Workflow,
} from './state.js';
import { emptyData, patchData } from './contact-store.js';
import { defaultSender } from './domains.js';
import { refreshCount } from './filters.js';

/** The number of objects to create, by kind. */
export interface SeedPlan {
  /** `contact-1@example.com` and so on; every tenth is unsubscribed. */
  contacts?: number;
  templates?: number;
  /** In DRAFT, or SENT when `emails` are seeded too. */
  campaigns?: number;
  /** Dynamic ones, each with a plan as its condition. */
  segments?: number;
  /** Disabled ones without steps. */
  workflows?: number;
  /** Tracked in the past by the seeded contacts; they start no workflow. */
  events?: number;
  /** Sent in the past; half of them were opened, a fifth clicked, one in fifty bounced. */
  emails?: number;
  /**
   * The records that the documentation's programs name: the contacts `con_1` and `con_2`, the template
   * `tpl_welcome`, the campaign `cam_spring` and the segment `seg_vip`.
   */
  samples?: boolean;
}

const many = wholeNumber(0);
const seedKinds: OptionKinds<SeedPlan> = {
  contacts: many,
  templates: many,
  campaigns: many,
  segments: many,
  workflows: many,
  events: many,
  emails: many,
  samples: flag,
};

/** The created objects, in the order of their creation. */
export interface Seeded {
  readonly contacts: readonly Contact[];
  readonly templates: readonly Template[];
  readonly campaigns: readonly Campaign[];
  readonly segments: readonly Segment[];
  readonly workflows: readonly Workflow[];
  readonly events: readonly TrackedEvent[];
  readonly emails: readonly SentEmail[];
}

/** Fills a project; the same plan gives the same data each time, apart from the clock's time. */
export function seed(scope: Scope, given: SeedPlan): Seeded {
  const plan = readOptions(given, seedKinds, { name: '`seed()`', example: '{ contacts: 100 }' });
  if (plan.samples === true) {
    addSamples(scope);
  }
  // Events and emails belong to a contact, so at least one contact must exist.
  const needsContact =
    (plan.events ?? 0) + (plan.emails ?? 0) > 0 && scope.project.contacts.size === 0;
  const contacts = seedContacts(scope, plan.contacts ?? Number(needsContact));
  const people = contacts.length > 0 ? contacts : [...scope.project.contacts.values()];
  const templates = seedTemplates(scope, plan.templates ?? 0);
  const segments = seedSegments(scope, plan.segments ?? 0);
  const workflows = seedWorkflows(scope, plan.workflows ?? 0);
  const campaigns = seedCampaigns(scope, plan.campaigns ?? 0);
  const events = seedEvents(scope, plan.events ?? 0, people);
  const emails = seedEmails(scope, plan.emails ?? 0, { people, campaigns });
  return { contacts, templates, campaigns, segments, workflows, events, emails };
}

/** Adds the records that the documentation's programs name. */
function addSamples(scope: Scope): void {
  const { world, project } = scope;
  const at = world.clock.date().toISOString();
  const from = defaultSender(project);
  const mail = { subject: 'Hello {{name ?? "there"}}', body: '<p>Hello {{name ?? "there"}}!</p>' };
  for (const [id, name, plan] of [
    ['con_1', 'Ann', 'pro'],
    ['con_2', 'Bea', 'free'],
  ] as const) {
    const email = `${name.toLowerCase()}@example.com`;
    const contact: Contact = { id, email, subscribed: true, data: emptyData(), ...stamps(at) };
    patchData(scope, contact, { name, plan, joinedAt: at });
    put(project.contacts, contact);
    project.contactIds.set(email, id);
  }
  put(project.templates, {
    id: 'tpl_welcome',
    name: 'Welcome',
    type: 'TRANSACTIONAL',
    from,
    ...mail,
    ...stamps(at),
  });
  put(project.campaigns, {
    id: 'cam_spring',
    name: 'Spring',
    audienceType: 'ALL',
    status: 'DRAFT',
    scheduledAt: null,
    from,
    ...mail,
    ...stamps(at),
  });
  put(project.segments, {
    id: 'seg_vip',
    name: 'VIPs',
    type: 'STATIC',
    trackMembership: false,
    memberCount: 0,
    members: new Set<string>(),
    ...stamps(at),
  });
}

const hourMs = 3_600_000;
const firstNames = ['Ada', 'Ben', 'Chloe', 'Dan', 'Eva', 'Finn', 'Grace', 'Hugo', 'Ida', 'Jon'];
const locales = ['en', 'de', 'fr'];

/** The plans of seeded contacts. */
export const plans: readonly string[] = ['free', 'starter', 'pro'];

/** Contacts that have joined one per hour, the last one just now. */
function seedContacts(scope: Scope, count: number): Contact[] {
  const { contacts, contactIds } = scope.project;
  const now = scope.world.clock.now();
  // A second `seed()` continues the numbers, because an email is unique within a project.
  const known = contacts.size;
  return times(count, (index) => {
    const joinedAt = new Date(now - (count - index - 1) * hourMs).toISOString();
    const contact = makeContact(scope.world.id('con'), known + index + 1, joinedAt);
    patchData(scope, contact, customFields(known + index, joinedAt));
    contacts.set(contact.id, contact);
    contactIds.set(contact.email, contact.id);
    return contact;
  });
}

function makeContact(id: string, number: number, joinedAt: string): Contact {
  return {
    id,
    email: `contact-${number}@example.com`,
    subscribed: number % 10 !== 0,
    data: emptyData(),
    createdAt: joinedAt,
    updatedAt: joinedAt,
  };
}

function customFields(index: number, joinedAt: string): Record<string, unknown> {
  return {
    name: pick(firstNames, index),
    plan: pick(plans, index),
    locale: pick(locales, index),
    orders: index % 7,
    isBeta: index % 4 === 0,
    joinedAt,
  };
}

const body = '<p>Hello {{name ?? "there"}}</p>';

function seedTemplates({ world, project }: Scope, count: number): Template[] {
  return times(count, (index) => {
    const template: Template = {
      id: world.id('tpl'),
      name: `Template ${index + 1}`,
      subject: `Subject ${index + 1}`,
      body,
      type: pick(['TRANSACTIONAL', 'MARKETING'], index),
      from: defaultSender(project),
      ...stamps(world.clock.date().toISOString()),
    };
    return put(project.templates, template);
  });
}

function seedCampaigns({ world, project }: Scope, count: number): Campaign[] {
  return times(count, (index) => {
    const campaign: Campaign = {
      id: world.id('cam'),
      name: `Campaign ${index + 1}`,
      subject: `News ${index + 1}`,
      body,
      from: defaultSender(project),
      audienceType: 'ALL',
      status: 'DRAFT',
      scheduledAt: null,
      ...stamps(world.clock.date().toISOString()),
    };
    return put(project.campaigns, campaign);
  });
}

function seedSegments(scope: Scope, count: number): Segment[] {
  const { world, project } = scope;
  return times(count, (index) => {
    const segment: Segment = {
      id: world.id('seg'),
      type: 'DYNAMIC',
      name: `Segment ${index + 1}`,
      condition: { field: 'data.plan', operator: 'equals', value: pick(plans, index) },
      trackMembership: false,
      memberCount: 0,
      members: new Set(),
      ...stamps(world.clock.date().toISOString()),
    };
    refreshCount(scope, segment);
    return put(project.segments, segment);
  });
}

function seedWorkflows({ world, project }: Scope, count: number): Workflow[] {
  return times(count, (index) => {
    const workflow: Workflow = {
      id: world.id('wfl'),
      name: `Workflow ${index + 1}`,
      triggerType: 'EVENT',
      triggerConfig: { eventName: 'signup' },
      enabled: false,
      allowReentry: false,
      steps: new Map(),
      transitions: new Map(),
      executions: new Map(),
      ...stamps(world.clock.date().toISOString()),
    };
    return put(project.workflows, workflow);
  });
}

function stamps(at: string): { createdAt: string; updatedAt: string } {
  return { createdAt: at, updatedAt: at };
}

function put<Item extends { readonly id: string }>(map: Map<string, Item>, item: Item): Item {
  map.set(item.id, item);
  return item;
}

const minuteMs = 60_000;
const eventNames = ['signup', 'login', 'order.placed', 'page.viewed'];

/** Events of the past, one per minute; no listener gets them, so that no workflow starts. */
function seedEvents(
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
function seedEmails(
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

/** Returns `count` times, one minute apart; the last one is now. */
function pastTimes(now: number, count: number): string[] {
  return times(count, (index) => new Date(now - (count - index - 1) * minuteMs).toISOString());
}

/** Creates `count` items, each from its index. */
export function times<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Picks the items in turn, so that the data is varied and the same in each run. */
export function pick<Item>(items: readonly Item[], index: number): Item {
  // The index is within the list, and no list here is empty.
  return items[index % items.length] as Item;
}
