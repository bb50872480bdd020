import { clear, transient } from 'postreel';
import { expect } from 'vitest';
import { content, contactWith, dataOf, email, plainly, type Trap } from './traps.js';

/** Custom fields that the service drops, ignores or keeps in a way that nobody sees. */
export const dataTraps: readonly Trap[] = [
  {
    name: 'a reserved key is dropped from data',
    wrong: `m.contacts.create({ email, data: { manageUrl: 'x' } })`,
    right: `m.contacts.create({ email, data: { plan: 'pro' } })`,
    async service(scene) {
      await plainly(scene, 'POST', '/contacts', { email, data: { manageUrl: 'x', plan: 'pro' } });
      expect(dataOf(scene)).toEqual({ plan: 'pro' });
    },
    async client({ messaging, warnings }) {
      const row = { manageUrl: 'x', plan: 'pro' };
      await messaging.contacts.create({ email, data: row as object }); // JavaScript
      expect(warnings).toEqual([expect.stringContaining('`data.manageUrl` is a reserved key')]);
    },
  },
  {
    name: 'an empty string is ignored and keeps the old value',
    wrong: `m.contacts.update('1', { data: { plan: '' } })`,
    right: `m.contacts.update('1', { data: { plan: clear() } })`,
    async service(scene) {
      const id = await contactWith(scene, { plan: 'pro' });
      await plainly(scene, 'PATCH', `/contacts/${id}`, { data: { plan: '' } });
      expect(dataOf(scene)).toEqual({ plan: 'pro' });
    },
    async client(scene) {
      const id = await contactWith(scene, { plan: 'pro' });
      await scene.messaging.contacts.update(id, { data: { plan: '' } });
      expect(scene.warnings).toEqual([expect.stringContaining('use null to delete the field')]);
      await scene.messaging.contacts.update(id, { data: { plan: clear() } });
      expect(dataOf(scene)).toEqual({});
    },
  },
  {
    name: "a field's type is fixed forever by its first value",
    wrong: `m.contacts.create({ email, data: { seats: '5' } })`,
    right: `m.contacts.create({ email, data: { seats: 5 } })`,
    async service(scene) {
      await plainly(scene, 'POST', '/contacts', { email, data: { seats: '5' } });
      await plainly(scene, 'POST', '/contacts', { email, data: { seats: 6 } });
      const { fields } = await plainly(scene, 'GET', '/contacts/fields');
      expect(fields).toContainEqual(
        expect.objectContaining({ field: 'data.seats', type: 'string' }),
      );
    },
    async client(scene) {
      await contactWith(scene, { seats: '5' });
      const drift = await scene.messaging.contacts.fields.check({ seats: 'number' });
      expect(drift.different).toEqual([{ field: 'seats', expected: 'number', actual: 'string' }]);
    },
  },
  {
    name: 'a date that is not a full ISO 8601 string is stored as text, and no date filter finds it',
    wrong: `m.contacts.create({ email, data: { trialEnds: 20270301 } })`,
    right: `m.contacts.create({ email, data: { trialEnds: new Date() } })`,
    async service(scene) {
      await plainly(scene, 'POST', '/contacts', { email, data: { trialEnds: '1 March 2027' } });
      const { fields } = await plainly(scene, 'GET', '/contacts/fields');
      expect(fields).toContainEqual(
        expect.objectContaining({ field: 'data.trialEnds', type: 'string' }),
      );
    },
    async client(scene) {
      await contactWith(scene, { trialEnds: new Date('2027-03-01T00:00:00Z') });
      expect(dataOf(scene)).toEqual({ trialEnds: '2027-03-01T00:00:00.000Z' });
      const { fields } = await scene.messaging.contacts.fields.list();
      expect(fields).toContainEqual(
        expect.objectContaining({ field: 'data.trialEnds', type: 'date' }),
      );
    },
  },
  {
    name: 'a value for one email only has no effect on a contact',
    wrong: `m.contacts.update('1', { data: { plan: transient('pro') } })`,
    right: `m.send({ ...content, to: email, data: { plan: transient('pro') } })`,
    async service(scene) {
      const id = await contactWith(scene, { plan: 'free' });
      const data = { plan: { value: 'pro', persistent: false } };
      await plainly(scene, 'PATCH', `/contacts/${id}`, { data });
      expect(dataOf(scene)).toEqual({ plan: 'free' });
    },
    async client(scene) {
      const id = await contactWith(scene, { plan: 'free' });
      const { messaging, fake, warnings } = scene;
      await messaging.contacts.update(id, { data: { plan: transient('pro') } as object }); // JavaScript
      expect(warnings).toEqual([expect.stringContaining('`data.plan` is transient')]);
      const body = '{{plan}}';
      await messaging.send({ ...content, body, to: email, data: { plan: transient('pro') } });
      expect(fake.outbox[0]?.body).toBe('pro');
      expect(dataOf(scene)).toEqual({ plan: 'free' });
    },
  },
];
