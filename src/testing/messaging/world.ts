import type { Clock } from '../core/clock.js';
import { Ids } from '../core/ids.js';
import { addProject } from './projects.js';
import type { MessagingSettings } from './settings.js';
import type { MessagingWorld, Project, User } from './state.js';
import { addUser } from './users.js';
import { onEvent } from './workflow-engine.js';

/** The login of the owner of every world's first project. */
export const ownerLogin = { email: 'owner@example.com', password: 'password' } as const;

/** A world at its start, and the project that its keys belong to. */
interface Start {
  readonly world: MessagingWorld;
  readonly project: Project;
  readonly owner: User;
}

/** The keys of a world. */
export interface Keys {
  /** Part of every key that the world makes. */
  readonly id: string;
  /** The keys of the first project. */
  readonly secretKey?: string | undefined;
  readonly publicKey?: string | undefined;
}

/** Creates a world with one user and one project, always with the same ids and keys. */
export function createWorld(clock: Clock, settings: MessagingSettings, keys: Keys): Start {
  const ids = new Ids();
  let count = 0;
  const nextNumber = () => {
    count += 1;
    return String(count).padStart(6, '0');
  };
  const world: MessagingWorld = {
    clock,
    settings,
    ids,
    id: (prefix) => ids.issue(`${prefix}_${nextNumber()}`),
    key: (prefix) => `${prefix}_${keys.id}_${nextNumber()}`,
    projects: new Map(),
    users: new Map(),
    sessions: new Map(),
    outbox: [],
    mailedTokens: [],
    listeners: [onEvent],
  };
  const owner = addUser(world, ownerLogin);
  owner.isVerified = true;
  const project = addProject(world, 'Fake project', owner);
  project.secretKey = keys.secretKey ?? project.secretKey;
  project.publicKey = keys.publicKey ?? project.publicKey;
  return { world, owner, project };
}
