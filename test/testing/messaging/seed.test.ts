import { describe, expect, it } from 'vitest';
import { createFakeMessaging } from 'postreel/testing';
import { ok } from '../../support/testing/messaging-call.js';

const clock = { start: new Date('2026-03-10T12:00:00.000Z') };
const plan = {
  contacts: 20,
  templates: 2,
  campaigns: 2,
  segments: 3,
  workflows: 1,
  events: 9,
  emails: 60,
};

describe('seed()', () => {
  it('makes as many of each as asked', () => {
    const seeded = createFakeMessaging({ clock }).seed(plan);
    const counts = Object.entries(seeded).map(([name, items]: [string, unknown[]]) => [
      name,
      items.length,
    ]);
    expect(Object.fromEntries(counts)).toEqual(plan);
  });

  it('makes the same data each time', () => {
    const one = createFakeMessaging({ clock }).seed(plan);
    expect(createFakeMessaging({ clock }).seed(plan)).toEqual(one);
  });

  it('makes data that the endpoints see', async () => {
    const fake = createFakeMessaging({ clock });
    fake.seed(plan);
    expect(await ok(fake, 'GET /contacts')).toMatchObject({ total: 20 });
    expect(await ok(fake, 'GET /segments')).toMatchObject([{ memberCount: 7 }, {}, {}]);
    expect(await ok(fake, 'GET /events')).toMatchObject({ total: 9 });
    expect(await ok(fake, 'GET /activity')).toHaveProperty('total', 9 + 60 + 30 + 12 + 1);
    const { fields } = await ok(fake, 'GET /contacts/fields');
    expect(fields).toContainEqual({
      field: 'data.joinedAt',
      type: 'date',
      isCustom: true,
      coverage: 1,
    });
  });

  it('goes on where the last one ended', () => {
    const fake = createFakeMessaging();
    fake.seed({ contacts: 5 });
    const [next] = fake.seed({ contacts: 5 }).contacts;
    expect(next?.email).toBe('contact-6@example.com');
    expect(fake.project.contactIds.size).toBe(10);
  });

  it('adds the records that the documentation names', async () => {
    const fake = createFakeMessaging();
    fake.seed({ samples: true });
    expect(await ok(fake, 'GET /contacts/con_1')).toMatchObject({ email: 'ann@example.com' });
    expect(await ok(fake, 'GET /templates/tpl_welcome')).toMatchObject({ name: 'Welcome' });
    expect(await ok(fake, 'GET /campaigns/cam_spring')).toMatchObject({ status: 'DRAFT' });
    expect(await ok(fake, 'GET /segments/seg_vip')).toMatchObject({ type: 'STATIC' });
  });

  it('makes 10 000 contacts', () => {
    const fake = createFakeMessaging();
    fake.seed({ contacts: 10_000 });
    expect(fake.project.contacts.size).toBe(10_000);
  });
});
