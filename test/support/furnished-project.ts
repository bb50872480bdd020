import type { FakeMessaging } from 'postreel/testing';

/** Puts into a fake what the documents and examples refer to by its id. */
export function furnish(fake: FakeMessaging): void {
  const { project, world } = fake;
  // The public key that the README tracks with.
  project.publicKey = 'pk_test_public';
  const at = world.clock.date();
  const stamps = { createdAt: at, updatedAt: at };
  const mail = { subject: 'Hello {{name ?? "there"}}', body: '<p>Hello {{name ?? "there"}}!</p>' };
  const from = 'shop@example.com';

  for (const [id, name, plan] of [
    ['con_1', 'Ann', 'pro'],
    ['con_2', 'Bea', 'free'],
  ] as const) {
    const email = `${name.toLowerCase()}@example.com`;
    const data = { name, plan, joinedAt: at };
    project.contacts.set(id, { id, email, subscribed: true, data, ...stamps });
    project.contactIds.set(email, id);
  }
  for (const key of ['name', 'plan'] as const) {
    project.fieldTypes.set(key, 'string');
  }
  project.fieldTypes.set('joinedAt', 'date');

  // More than a page.
  fake.seed({ contacts: 120 });

  const template = { name: 'Welcome', type: 'TRANSACTIONAL', from, ...mail, ...stamps };
  project.templates.set('tpl_welcome', { id: 'tpl_welcome', ...template });

  const campaign = { name: 'Spring', audienceType: 'ALL', status: 'DRAFT', scheduledAt: null };
  project.campaigns.set('cam_spring', { id: 'cam_spring', ...campaign, from, ...mail, ...stamps });

  const members = new Set<string>();
  const segment = { type: 'STATIC', name: 'VIPs', trackMembership: false, memberCount: 0 };
  project.segments.set('seg_vip', { id: 'seg_vip', ...segment, members, ...stamps });
}
