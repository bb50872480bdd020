import type { MessagingWorld, Project, User } from '../state.js';

/** A new project of a user, with `example.com` as a verified domain to send from. */
export function addProject(world: MessagingWorld, name: string, owner: User): Project {
  const project: Project = {
    id: world.id('prj'),
    name,
    secretKey: world.key('sk'),
    publicKey: world.key('pk'),
    isDisabled: false,
    settings: {},
    createdAt: world.clock.date(),
    members: [{ userId: owner.id, email: owner.email, role: 'OWNER' }],
    billingLimits: {},
    ...emptyProject(),
  };
  world.projects.set(project.id, project);
  addVerifiedDomain(world, project);
  return project;
}

/** messaging, Authentication 5: both keys at once. */
export function rotateKeys(world: MessagingWorld, project: Project): void {
  project.secretKey = world.key('sk');
  project.publicKey = world.key('pk');
}

/** The irreversible data wipe: name, keys, members and domains stay (what goes is not shown). */
export function wipe(project: Project): void {
  const { contacts, contactIds, fieldTypes, templates, campaigns, segments, workflows } = project;
  for (const map of [contacts, contactIds, fieldTypes, templates, campaigns]) {
    map.clear();
  }
  for (const map of [segments, workflows, project.jobs, project.uploads]) {
    map.clear();
  }
  for (const list of [project.events, project.activity, project.outbox, project.webhooks]) {
    list.length = 0;
  }
}

function emptyProject() {
  return {
    contacts: new Map(),
    contactIds: new Map(),
    fieldTypes: new Map(),
    templates: new Map(),
    campaigns: new Map(),
    segments: new Map(),
    workflows: new Map(),
    domains: new Map(),
    jobs: new Map(),
    uploads: new Map(),
    events: [],
    activity: [],
    outbox: [],
    dns: new Set<string>(),
    webhooks: [],
  };
}

function addVerifiedDomain(world: MessagingWorld, project: Project): void {
  const id = world.id('dom');
  const now = world.clock.date();
  project.domains.set(id, {
    id,
    projectId: project.id,
    domain: 'example.com',
    status: 'verified',
    createdAt: now,
    verifiedAt: now,
  });
  project.dns.add('example.com');
}
