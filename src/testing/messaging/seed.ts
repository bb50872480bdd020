import { readOptions, wholeNumber, type OptionKinds } from '../../core/options.js';
import { seedCampaigns, seedSegments, seedTemplates, seedWorkflows } from './seed/content.js';
import { seedContacts } from './seed/contacts.js';
import { seedEmails, seedEvents } from './seed/history.js';
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

/** How many of each to make up. */
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
};

/** What was made up, in the order of its making. */
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
  // Events and emails belong to a contact, so that they bring at least one contact along.
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
