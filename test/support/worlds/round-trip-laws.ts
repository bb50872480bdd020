import { isPostreelError, type MessagingClient } from 'postreel';
import { expect } from 'vitest';
import type { Law, MessagingScene } from './law.js';

const content = { subject: 'Hi', body: '<p>Hi</p>', from: 'shop@example.com' };
const condition = { field: 'data.plan', operator: 'equals', value: 'pro' } as const;

type Kind = 'contacts' | 'templates' | 'segments' | 'campaigns';

/** The records that a method returned, and the methods that accept them. */
interface Handed {
  readonly kind: Kind;
  readonly records: readonly object[];
  readonly change: (record: never) => PromiseLike<unknown>;
  readonly create: (record: never) => PromiseLike<unknown>;
}

/** Whatever a method hands out can be handed back, with every optional field set or none. */
export const roundTripLaws: readonly Law<MessagingScene>[] = [
  ...[true, false].map((isFilled) => ({
    name: `records with ${isFilled ? 'all' : 'no'} optional fields go back as they came, and nothing changes`,
    async holds({ fake, messaging }: MessagingScene) {
      for (const { kind, records, change } of await handedOut(messaging, isFilled)) {
        const before = stored(fake, kind);
        for (const record of records) {
          await change(record as never); // as a method returned it
          expect(stored(fake, kind)).toEqual(before);
        }
      }
    },
  })),
  {
    name: 'records that were handed out make others like them',
    async holds({ fake, messaging }) {
      for (const { kind, records, create } of await handedOut(messaging, true)) {
        for (const record of records) {
          const before = stored(fake, kind);
          await create(record as never); // as a method returned it
          const [last] = stored(fake, kind).slice(-1);
          expect(last).toEqual(before.at(-1));
          expect(stored(fake, kind)).toHaveLength(before.length + (kind === 'contacts' ? 0 : 1));
        }
      }
    },
  },
  {
    name: 'records that the document does not show are never refused on the way back',
    async holds({ messaging, world }) {
      const { workflows, projects, domains } = messaging;
      const workflow = await workflows.create({ name: 'Welcome', eventName: 'signed_up' });
      const { id } = workflow;
      const alone = { autoConnect: false };
      const wait = { type: 'DELAY', config: { duration: '1d' }, ...alone } as const;
      const step = await workflows.steps.create(id, wait);
      const exit = await workflows.steps.create(id, { type: 'EXIT', ...alone });
      const ends = { fromStepId: step.id, toStepId: exit.id };
      const transition = await workflows.transitions.create(id, ends);
      const graph = await workflows.get(id);
      for (const record of [workflow, graph, ...(await workflows.list().toArray())]) {
        await taken(workflows.update(id, record));
        await taken(workflows.create(record));
      }
      // Nobody adds a step that represents the trigger.
      const steps = (graph.steps ?? []).filter(({ type }) => type !== 'TRIGGER');
      for (const record of [step, ...steps]) {
        await taken(workflows.steps.update(id, record.id, record));
        await taken(workflows.steps.create(id, record));
      }
      for (const record of [transition, ...(graph.transitions ?? [])]) {
        await taken(workflows.transitions.create(id, record));
      }
      const isOpen = world.accountAccess === 'key-or-session';
      for (const project of isOpen ? await projects.list().toArray() : []) {
        await taken(projects.update(project.id, project));
        await taken(projects.create(project));
        for (const domain of await domains.list(project.id).toArray()) {
          await taken(domains.create(domain));
        }
      }
    },
  },
];

/** One record of each kind, in each form in which a method hands it out. */
async function handedOut(messaging: MessagingClient, isFilled: boolean): Promise<Handed[]> {
  const { contacts, templates, segments, campaigns } = messaging;
  const more = isFilled ? { description: 'For spring' } : {};
  const contact = await contacts.create({
    email: 'ann@example.com',
    ...(isFilled && { subscribed: false, data: { plan: 'pro', seats: 3 } }),
  });
  const template = await templates.create({
    name: 'Welcome',
    type: isFilled ? 'TRANSACTIONAL' : 'MARKETING',
    ...content,
  });
  const segment = isFilled
    ? await segments.create({ name: 'Pro', type: 'DYNAMIC', condition, ...more })
    : await segments.create({ name: 'Friends', type: 'STATIC' });
  const campaign = await campaigns.create({
    name: 'Spring',
    audienceType: 'ALL',
    ...content,
    ...more,
    ...(isFilled && { fromName: 'Shop', replyTo: 'help@example.com' }),
  });
  return [
    {
      kind: 'contacts',
      records: [contact, await contacts.get(contact.id), ...(await contacts.list().toArray())],
      change: (record) => contacts.update(contact.id, record),
      create: (record) => contacts.create(record),
    },
    {
      kind: 'templates',
      records: [template, await templates.get(template.id), ...(await templates.list().toArray())],
      change: (record) => templates.update(template.id, record),
      create: (record) => templates.create(record),
    },
    {
      kind: 'segments',
      records: [segment, await segments.get(segment.id), ...(await segments.list().toArray())],
      change: (record) => segments.update(segment.id, record),
      create: (record) => segments.create(record),
    },
    {
      kind: 'campaigns',
      // The answer of a creation is shown without the body of the email, which a replacement needs.
      records: [await campaigns.get(campaign.id), ...(await campaigns.list().toArray())],
      change: (record) => campaigns.replace(campaign.id, record),
      create: (record) => campaigns.create(record),
    },
  ];
}

const answerOnly = new Set(['id', 'createdAt', 'updatedAt']);

/** The data of the service, without the fields that differ between records. Unset fields are left out. */
function stored({ project }: MessagingScene['fake'], kind: Kind): object[] {
  return [...project[kind].values()].map((record: object) =>
    Object.fromEntries(
      Object.entries(record).filter(
        ([name, value]) =>
          !answerOnly.has(name) && value !== undefined && value !== null && value !== '',
      ),
    ),
  );
}

/** The service may say no, as it likes; the client may not. */
async function taken(call: PromiseLike<unknown>): Promise<void> {
  await Promise.resolve(call).catch((error: unknown) => {
    expect(isPostreelError(error) && error.outcome).toBe('rejected');
  });
}
