import { expect } from 'vitest';
import type { Law, MessagingScene } from './law.js';

const content = { subject: 'Hi', body: '<p>Hi</p>', from: 'shop@example.com' };
const pro = { field: 'data.plan', operator: 'equals', value: 'pro' } as const;

/** Creating, reading, changing and deleting, resource by resource. */
export const resourceLaws: readonly Law<MessagingScene>[] = [
  {
    name: 'a contact is created once, read, changed and deleted under the id that was handed out',
    async holds({ fake, messaging }) {
      const before = fake.project.contacts.size;
      const created = await messaging.contacts.create({ email: 'ann@example.com' });
      expect(created.email).toBe('ann@example.com');
      expect(fake.project.contacts.size).toBe(before + 1);
      await messaging.contacts.update(created.id, { data: { plan: 'pro' }, subscribed: false });
      const stored = [...fake.project.contacts.values()].at(-1);
      expect(stored).toMatchObject({ data: { plan: 'pro' }, subscribed: false });
      const read = await messaging.contacts.get(created.id);
      expect(read).toMatchObject({ id: created.id, email: 'ann@example.com', subscribed: false });
      expect(read.data).toMatchObject({ plan: 'pro' });
      await messaging.contacts.delete(created.id);
      expect(fake.project.contacts.size).toBe(before);
    },
  },
  {
    name: 'a template that was read can be written back, and used by its id',
    async holds({ fake, messaging }) {
      const created = await messaging.templates.create({
        name: 'Welcome',
        type: 'TRANSACTIONAL',
        ...content,
      });
      const read = await messaging.templates.get(created.id);
      await messaging.templates.update(created.id, { ...read, name: 'Hello' }); // as read
      expect([...fake.project.templates.values()].map(({ name }) => name)).toEqual(['Hello']);
      await messaging.send({ to: 'ann@example.com', template: created.id });
      expect(fake.outbox).toHaveLength(1);
      expect(fake.outbox[0]).toMatchObject({ to: 'ann@example.com', subject: 'Hi' });
      const copy = await messaging.templates.duplicate(created.id);
      await messaging.templates.delete(copy.id);
      expect(fake.project.templates.size).toBe(1);
    },
  },
  {
    name: 'a campaign that was read can be replaced by itself, and is sent once',
    async holds({ fake, messaging }) {
      await messaging.contacts.create({ email: 'ann@example.com' });
      const created = await messaging.campaigns.create({
        name: 'Spring',
        audienceType: 'ALL',
        ...content,
      });
      const read = await messaging.campaigns.get(created.id);
      await messaging.campaigns.replace(created.id, { ...read, subject: 'Hello' }); // as read
      const [stored] = fake.project.campaigns.values();
      expect(stored).toMatchObject({ name: 'Spring', subject: 'Hello', status: 'DRAFT' });
      await messaging.campaigns.sendTest(created.id, { email: 'bob@example.com' });
      await messaging.campaigns.send(created.id);
      expect(fake.outbox.map(({ to }) => to)).toEqual(['bob@example.com', 'ann@example.com']);
    },
  },
  {
    name: 'a scheduled campaign mails nobody yet, and can be canceled',
    async holds({ fake, messaging }) {
      await messaging.contacts.create({ email: 'ann@example.com' });
      const body = { name: 'Later', audienceType: 'ALL' as const, ...content };
      const { id } = await messaging.campaigns.create(body);
      await messaging.campaigns.send(id, { scheduledFor: new Date(Date.now() + 3_600_000) });
      expect([...fake.project.campaigns.values()][0]?.status).toBe('SCHEDULED');
      await messaging.campaigns.cancel(id);
      await fake.advance('2h');
      expect(fake.outbox).toEqual([]);
      await messaging.campaigns.delete(id);
      expect(fake.project.campaigns.size).toBe(0);
    },
  },
  {
    name: 'a segment that was read can be written back, and its members are found',
    async holds({ fake, messaging }) {
      await messaging.contacts.create({ email: 'ann@example.com', data: { plan: 'pro' } });
      await messaging.contacts.create({ email: 'bob@example.com', data: { plan: 'free' } });
      const body = { name: 'Pros', type: 'DYNAMIC' as const, condition: pro };
      const { id } = await messaging.segments.create({ ...body, trackMembership: true });
      const read = await messaging.segments.get(id);
      await messaging.segments.update(id, { ...read, name: 'Professionals' }); // as read
      expect([...fake.project.segments.values()][0]?.name).toBe('Professionals');
      await messaging.segments.compute(id);
      const members = await messaging.segments.members.list(id).toArray();
      expect(members.map(({ email }) => email)).toEqual(['ann@example.com']);
      const fixed = await messaging.segments.create({ name: 'Friends', type: 'STATIC' });
      await messaging.segments.members.add(fixed.id, { emails: ['bob@example.com'] });
      expect((await messaging.segments.get(fixed.id)).memberCount).toBe(1);
    },
  },
  {
    name: 'a workflow is built from ids that were handed out, and runs',
    async holds({ fake, messaging, world }) {
      const { id: contact } = await messaging.contacts.create({ email: 'ann@example.com' });
      const { id } = await messaging.workflows.create({ name: 'Welcome', eventName: 'signed_up' });
      const wait = {
        type: 'DELAY' as const,
        config: { duration: '1d' },
        autoConnect: false,
      };
      const first = await messaging.workflows.steps.create(id, wait);
      const last = await messaging.workflows.steps.create(id, { type: 'EXIT', autoConnect: false });
      const connect = (fromStepId: string, toStepId: string) =>
        messaging.workflows.transitions.create(id, { fromStepId, toStepId });
      if (world.workflowStart === 'trigger-step') {
        const [trigger] = (await messaging.workflows.get(id)).steps ?? [];
        await connect(trigger?.id ?? '', first.id);
      }
      await connect(first.id, last.id);
      await messaging.workflows.update(id, { enabled: true });
      const execution = await messaging.workflows.executions.start(id, { contactId: contact });
      const graph = await messaging.workflows.get(id);
      const steps = graph.steps?.filter(({ type }) => type !== 'TRIGGER');
      expect(steps?.map((step) => step.id)).toEqual([first.id, last.id]);
      const running = await messaging.workflows.executions.get(id, execution.id);
      expect(running.id).toBe(execution.id);
      await messaging.workflows.executions.cancelAll(id);
      const [stored] = fake.project.workflows.values();
      expect([...(stored?.executions.values() ?? [])].map(({ status }) => status)).toEqual([
        'CANCELLED',
      ]);
    },
  },
  {
    name: 'an event is tracked once, by its public key as well',
    async holds({ fake, messaging }) {
      const tracked = await messaging.track({ email: 'ann@example.com', event: 'signed_up' });
      expect(tracked.contact).toBeDefined();
      await messaging
        .with({ apiKey: fake.publicKey })
        .track({ email: 'ann@example.com', event: 'signed_in' });
      expect(fake.project.events.map(({ name }) => name)).toEqual(['signed_up', 'signed_in']);
      expect(fake.project.contacts.size).toBe(1);
    },
  },
  {
    name: 'an email is sent once to each recipient, with its attachment',
    async holds({ fake, messaging }) {
      const file = { filename: 'a.txt', content: 'aGVsbG8=' };
      const to = ['ann@example.com', 'bob@example.com'];
      const { emails } = await messaging.send({ ...content, to, attachments: [file] });
      expect(emails.map((one) => one.contact.email)).toEqual(to);
      expect(fake.outbox.map((one) => one.to)).toEqual(to);
      expect(fake.outbox[0]?.attachments).toEqual([file]);
    },
  },
  {
    name: 'domains and images keep what was sent',
    async holds({ fake, messaging }) {
      const name = 'news.example.org';
      const { id } = await messaging.domains.create({ domain: name });
      fake.project.dns.add(name);
      await messaging.domains.verify(id);
      const domains = [...fake.project.domains.values()];
      expect(domains.find(({ domain }) => domain === name)?.status).toBe('verified');
      await messaging.domains.delete(id);
      const data = new Uint8Array([137, 80, 78, 71]);
      const file = { data, filename: 'logo.png', contentType: 'image/png' };
      const { url } = await messaging.uploads.image(file);
      expect(url).toContain('logo.png');
      expect([...fake.project.uploads.values()][0]?.bytes).toEqual(data);
    },
  },
  {
    name: 'a signed-in user reaches the account, and rotated keys work at once',
    async holds({ fake, messaging }) {
      const session = messaging.with({ apiKey: null });
      await session.auth.login(fake.owner);
      const projects = await session.projects.list().toArray();
      expect(projects).toHaveLength(1);
      const created = await session.projects.create({ name: 'Second' });
      await session.projects.delete(created.id);
      expect(fake.world.projects.size).toBe(1);
      await session.auth.logout();
      expect(fake.world.sessions.size).toBe(0);
    },
  },
];
