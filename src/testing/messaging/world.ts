import type { Clock } from '../core/time/clock.js';
import { Ids } from '../core/ids.js';
import { addProject } from './projects/project.js';
import type { MessagingSettings } from './settings.js';
import type { MessagingWorld, Project, User } from './state.js';
import { addUser } from './users/accounts.js';
import { onEvent } from './workflows/engine.js';

/** Who owns the first project of every world. */
export const ownerLogin = { email: 'owner@example.com', password: 'password' } as const;

/** A world at its start, and the project that its keys belong to. */
export interface Start {
  readonly world: MessagingWorld;
  readonly project: Project;
  readonly owner: User;
}

/** Makes a world with one user and one project; the same ids and keys each time. */
export function createWorld(clock: Clock, settings: MessagingSettings): Start {
  const ids = new Ids();
  let count = 0;
  const world: MessagingWorld = {
    clock,
    settings,
    ids,
    id: (prefix) => {
      count += 1;
      return ids.issue(`${prefix}_${String(count).padStart(6, '0')}`);
    },
    projects: new Map(),
    users: new Map(),
    sessions: new Map(),
    outbox: [],
    mailedTokens: [],
    listeners: [onEvent],
  };
  const owner = addUser(world, ownerLogin);
  owner.isVerified = true;
  return { world, owner, project: addProject(world, 'Fake project', owner) };
}
