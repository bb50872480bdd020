import { memoryJournal } from 'postreel';
import { expect } from 'vitest';
import {
  campaignOf,
  contactWith,
  content,
  email,
  ids,
  mailed,
  plainly,
  refused,
  type Trap,
} from './traps.js';

const anHourAgo = () => new Date(Date.now() - 3_600_000);
const wait = { interval: 5 };

/** Calls that reach too many, too few, or other people than they seem to. */
export const callTraps: readonly Trap[] = [
  {
    name: 'a campaign without `scheduledFor` goes to everybody now',
    wrong: `m.campaigns.schedule('1', undefined)`,
    right: `m.campaigns.schedule('1', new Date())`,
    async service(scene) {
      const id = await campaignOf(scene);
      await plainly(scene, 'POST', `/campaigns/${id}/send`, {});
      expect(mailed(scene)).toEqual([email]);
    },
    async client(scene) {
      const id = await campaignOf(scene);
      const { campaigns } = scene.messaging;
      await refused(campaigns.schedule(id, undefined as never), 'scheduledFor'); // JavaScript
      await refused(campaigns.send(id, { scheduledFor: undefined as never }), 'scheduledFor');
      expect(mailed(scene)).toEqual([]);
    },
  },
  {
    name: 'a campaign that is given a date for its body goes to everybody now',
    wrong: `m.campaigns.send('1', new Date())`,
    right: `m.campaigns.send('1', { scheduledFor: new Date() })`,
    async service(scene) {
      const id = await campaignOf(scene);
      await plainly(scene, 'POST', `/campaigns/${id}/send`, { at: new Date() });
      expect(mailed(scene)).toEqual([email]);
    },
    async client(scene) {
      const id = await campaignOf(scene);
      await refused(scene.messaging.campaigns.send(id, new Date() as never), 'body'); // JavaScript
      expect(mailed(scene)).toEqual([]);
    },
  },
  {
    name: 'a campaign for a time in the past goes to everybody now',
    wrong: `m.campaigns.schedule('1', 0)`,
    right: `m.campaigns.sendNow('1')`,
    async service(scene) {
      const id = await campaignOf(scene);
      const scheduledFor = anHourAgo().toISOString();
      await plainly(scene, 'POST', `/campaigns/${id}/send`, { scheduledFor });
      await scene.fake.advance('1s');
      expect(mailed(scene)).toEqual([email]);
    },
    async client(scene) {
      const id = await campaignOf(scene);
      await refused(scene.messaging.campaigns.schedule(id, anHourAgo()), 'scheduledFor');
      expect(mailed(scene)).toEqual([]);
    },
  },
  {
    name: 'a replaced campaign loses the fields that were left out',
    wrong: `m.campaigns.replace('1', { subject: 'Hello' })`,
    right: `m.campaigns.get('1').then((draft) => m.campaigns.replace('1', { ...draft, subject: 'Hello' }))`,
    async service(scene) {
      const id = await campaignOf(scene);
      const body = { name: 'Spring', audienceType: 'ALL', ...content };
      await plainly(scene, 'PUT', `/campaigns/${id}`, body);
      expect((await plainly(scene, 'GET', `/campaigns/${id}`))['description']).not.toBe('Of March');
    },
    async client(scene) {
      const id = await campaignOf(scene);
      const { campaigns } = scene.messaging;
      await campaigns.replace(id, { ...(await campaigns.get(id)), subject: 'Hello' });
      expect(await campaigns.get(id)).toMatchObject({ subject: 'Hello', description: 'Of March' });
    },
  },
  {
    name: 'a bulk call takes 1000 contacts',
    wrong: `m.contacts.bulkDelete({ contactIds: new Set(['1']) })`,
    right: `m.contacts.deleteAll(new Set(['1']))`,
    async service(scene) {
      const contactIds = ids(1001);
      const call = plainly(scene, 'POST', '/contacts/bulk-subscribe', { contactIds });
      await expect(call).rejects.toMatchObject({ outcome: 'rejected' });
    },
    async client({ messaging, fake }) {
      const call = messaging.contacts.bulkSubscribe({ contactIds: ids(1001) });
      await expect(call).rejects.toThrow('contacts.subscribeAll()');
      const { failed, unknown } = await messaging.contacts.subscribeAll(ids(1001), { wait });
      // The fake has no such contacts.
      expect([failed.length, unknown]).toEqual([1001, []]);
      expect(fake.requests.filter(({ path }) => path === '/contacts/bulk-subscribe')).toHaveLength(
        2,
      );
    },
  },
  {
    name: 'a lookup takes 500 emails',
    wrong: `m.contacts.lookup({ emails: new Set([email]) })`,
    right: `m.contacts.lookupAll(new Set([email]))`,
    async service(scene) {
      const emails = ids(501).map((id) => `${id}@example.com`);
      const call = plainly(scene, 'POST', '/contacts/lookup', { emails });
      await expect(call).rejects.toMatchObject({ outcome: 'rejected' });
    },
    async client({ messaging }) {
      const emails = ids(501).map((id) => `${id}@example.com`);
      await expect(messaging.contacts.lookup({ emails })).rejects.toThrow('contacts.lookupAll()');
      const answers = [];
      for await (const answer of messaging.contacts.lookupAll(emails)) {
        answers.push(answer);
      }
      expect(answers).toHaveLength(2);
    },
  },
  {
    name: 'an import takes 5 MB',
    wrong: `m.contacts.import([{ email }])`,
    right: `m.contacts.importAll([{ email }], { newContacts: 'subscribed' })`,
    async service(scene) {
      const form = new FormData();
      const type = 'text/csv';
      form.append('file', new Blob(['email\n', 'x'.repeat(6 * 1024 * 1024)], { type }), 'a.csv');
      const call = plainly(scene, 'POST', '/contacts/import', form);
      await expect(call).rejects.toMatchObject({ outcome: 'rejected' });
    },
    async client({ messaging, fake }) {
      const large = { data: new Uint8Array(6 * 1024 * 1024) };
      await refused(messaging.contacts.import(large), 'file');
      const rows = ids(7).map((id) => ({ email: `${id}@b.c`, note: 'x'.repeat(900_000) }));
      const { done, failed } = await messaging.contacts.importAll(rows, {
        newContacts: 'subscribed',
        wait,
      });
      expect([done, failed, fake.project.contacts.size]).toEqual([7, [], 7]);
    },
  },
  {
    name: 'a search finds parts of addresses',
    wrong: `m.contacts.findByEmail({ email })`,
    right: `m.contacts.findByEmail(email)`,
    async service(scene) {
      await scene.messaging.contacts.create({ email: `jo${email}` });
      const answer = await plainly(scene, 'GET', `/contacts?search=${email}`);
      expect(answer['data']).toHaveLength(1);
    },
    async client({ messaging }) {
      await messaging.contacts.create({ email: `jo${email}` });
      expect(await messaging.contacts.findByEmail(email)).toBeUndefined();
    },
  },
  {
    name: 'a write by email creates the contact if there is none',
    wrong: `m.contacts.unsubscribe({ email })`,
    right: `m.contacts.unsubscribe(email)`,
    async service(scene) {
      await plainly(scene, 'POST', '/contacts', { email, subscribed: false });
      expect(scene.fake.project.contacts.size).toBe(1);
    },
    async client({ messaging, fake }) {
      const call = messaging.contacts.unsubscribe(email);
      await expect(call).rejects.toMatchObject({ code: 'CONTACT_NOT_FOUND', outcome: 'not-sent' });
      expect(fake.project.contacts.size).toBe(0);
    },
  },
  {
    name: 'an email that is sent again after a lost response arrives twice',
    wrong: `m.sendEach([email], { ...content, to: email }, { once: 1 })`,
    right: `m.sendEach([email], content, { once: 'news' })`,
    async service(scene) {
      scene.fake.fail('POST /v1/send', { loseAnswer: true });
      const body = { ...content, to: email };
      await expect(plainly(scene, 'POST', '/v1/send', body)).rejects.toThrow();
      await plainly(scene, 'POST', '/v1/send', body);
      expect(mailed(scene)).toEqual([email, email]);
    },
    async client(scene) {
      scene.fake.fail('POST /v1/send', { loseAnswer: true });
      const messaging = scene.messaging.with({ journal: memoryJournal() });
      const first = await messaging.sendEach([email], content, { once: 'news' });
      const second = await messaging.sendEach([email], content, { once: 'news' });
      for (const { unknown } of [first, second]) {
        expect(unknown).toMatchObject([{ row: email, index: 0, error: { outcome: 'unknown' } }]);
      }
      expect(mailed(scene)).toEqual([email]);
    },
  },
  {
    name: 'a workflow with active executions is not deleted',
    wrong: `m.workflows.delete('1', { cancelExecutions: 'all' })`,
    right: `m.workflows.delete('1', { cancelExecutions: true })`,
    async service(scene) {
      const id = await running(scene);
      const call = plainly(scene, 'DELETE', `/workflows/${id}`);
      await expect(call).rejects.toMatchObject({ outcome: 'rejected' });
    },
    async client(scene) {
      const id = await running(scene);
      await scene.messaging.workflows.delete(id, { cancelExecutions: true });
      expect(scene.fake.project.workflows.size).toBe(0);
    },
  },
  {
    name: 'a reset wipes whatever project it names',
    wrong: `m.projects.reset('1', { confirm: true })`,
    right: `m.projects.reset('1', { confirm: '1' })`,
    async service(scene) {
      await contactWith(scene, {});
      const { id } = scene.fake.project;
      await plainly(scene, 'POST', `/users/@me/projects/${id}/reset`, {});
      expect(scene.fake.project.contacts.size).toBe(0);
    },
    async client(scene) {
      await contactWith(scene, {});
      const { messaging, fake, warnings } = scene;
      await refused(messaging.projects.reset(fake.project.id, { confirm: 'other' }), 'confirm');
      expect(fake.project.contacts.size).toBe(1);
      await messaging.projects.reset(fake.project.id);
      expect(warnings).toEqual([expect.stringContaining(fake.project.id)]);
    },
  },
];

async function running({ messaging }: Parameters<Trap['client']>[0]): Promise<string> {
  const { workflows, contacts } = messaging;
  const { id } = await workflows.create({ name: 'Welcome' });
  await workflows.steps.create(id, { type: 'DELAY', config: { duration: '1h' } });
  await workflows.update(id, { enabled: true });
  const { id: contactId } = await contacts.create({ email });
  await workflows.executions.start(id, { contactId });
  return id;
}
