import { defaultSender } from '../domains/senders.js';
import { refreshCount } from '../segments/members.js';
import type { Campaign, Scope, Segment, Template, Workflow } from '../state.js';
import { plans } from './contacts.js';
import { pick, times } from './making.js';

const body = '<p>Hello {{name ?? "there"}}</p>';

export function seedTemplates({ world, project }: Scope, count: number): Template[] {
  return times(count, (index) => {
    const template: Template = {
      id: world.id('tpl'),
      name: `Template ${index + 1}`,
      subject: `Subject ${index + 1}`,
      body,
      type: pick(['TRANSACTIONAL', 'MARKETING'], index),
      from: defaultSender(project),
      ...stamps(world.clock.date()),
    };
    return put(project.templates, template);
  });
}

export function seedCampaigns({ world, project }: Scope, count: number): Campaign[] {
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
      ...stamps(world.clock.date()),
    };
    return put(project.campaigns, campaign);
  });
}

export function seedSegments(scope: Scope, count: number): Segment[] {
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
      ...stamps(world.clock.date()),
    };
    refreshCount(scope, segment);
    return put(project.segments, segment);
  });
}

export function seedWorkflows({ world, project }: Scope, count: number): Workflow[] {
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
      ...stamps(world.clock.date()),
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
