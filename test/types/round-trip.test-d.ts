import type { MessagingClient } from 'postreel';
import { it } from 'vitest';

declare const messaging: MessagingClient;

it('compiles to hand back what a method returned', async () => {
  const { contacts, templates, segments, campaigns, workflows, projects, domains } = messaging;
  const contact = await contacts.get('con_1');
  await contacts.create(contact);
  await contacts.create({ ...contact, subscribed: true });
  await contacts.update('con_1', { ...contact, email: 'bea@example.com' });
  const template = await templates.get('tpl_1');
  await templates.create({ ...template, name: 'Copy' });
  await templates.update('tpl_1', { ...template, subject: 'Hi' });
  const segment = await segments.get('seg_1');
  await segments.create({ ...segment, name: 'Copy' });
  await segments.update('seg_1', { ...segment, name: 'Pro' });
  const campaign = await campaigns.get('cmp_1');
  await campaigns.create({ ...campaign, name: 'Copy' });
  await campaigns.replace('cmp_1', { ...campaign, subject: 'Hi' });
  const graph = await workflows.get('wf_1');
  await workflows.create({ ...graph, name: 'Copy' });
  await workflows.update('wf_1', { ...graph, allowReentry: true });
  for (const step of graph.steps ?? []) {
    await workflows.steps.create('wf_2', step);
    await workflows.steps.update('wf_1', step.id, { ...step, name: 'Wait' });
  }
  for (const transition of graph.transitions ?? []) {
    await workflows.transitions.create('wf_2', transition);
  }
  const [project] = await projects.list().toArray();
  if (project) {
    await projects.create({ ...project, name: 'Copy' });
    await projects.update(project.id, { ...project, name: 'Shop' });
    await projects.billing.setLimits(project.id, await projects.billing.getLimits(project.id));
  }
  for await (const domain of domains.list('prj_1')) {
    await domains.create(domain);
  }
});

it('still refuses half a record', () => {
  // @ts-expect-error -- a segment's id is required
  void messaging.campaigns.create({
    name: 'A',
    subject: 'A',
    body: 'A',
    from: 'a@b.co',
    audienceType: 'SEGMENT',
  });
  // @ts-expect-error -- a condition is required
  void messaging.segments.create({ type: 'DYNAMIC', name: 'Pro' });
  // @ts-expect-error -- no such type
  void messaging.templates.create({ name: 'A', subject: 'A', body: 'A', type: 'OTHER' });
  // @ts-expect-error -- every workflow is created disabled
  void messaging.workflows.create({ name: 'A', enabled: true });
});
