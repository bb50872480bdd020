import { isRecord } from '../../core/values.js';
import { ConflictError } from '../../core/errors.js';

/**
 * Throws when the usage of a thing names users of it, or does not clearly show that there are none.
 * The document does not show the shape of a usage.
 */
export function checkUnused(kind: string, name: string, usage: unknown): void {
  const { users, isUnderstood, isCounted } = usersIn(usage, '', name);
  if (users.length > 0) {
    throw new ConflictError(
      `${kind} \`${name}\` was not deleted: it is used by ${users.slice(0, 5).join(', ')}.`,
      { code: 'IN_USE', outcome: 'not-sent', details: usage },
    );
  }
  if (!isUnderstood || !isCounted) {
    throw new ConflictError(
      `${kind} \`${name}\` was not deleted: the service does not clearly say what uses it. Delete it without \`ifUnused\`.`,
      { code: 'USAGE_UNKNOWN', outcome: 'not-sent', details: usage },
    );
  }
}

/** The users of a thing, as far as an answer shows them. */
interface Usage {
  readonly users: readonly string[];
  /** False if a part of the answer may mean that there are users. */
  readonly isUnderstood: boolean;
  /** Does it have a list, a count, or a yes or no? Without one it shows nothing. */
  readonly isCounted: boolean;
}

// They are about the answer, not about users.
const besides = new Set([
  'success',
  'page',
  'pagesize',
  'perpage',
  'limit',
  'offset',
  'totalpages',
]);

// Every entry of every list is a use: a list that is not understood must not allow the delete.
function usersIn(usage: unknown, field: string, name: string): Usage {
  if (besides.has(field.toLowerCase()) || usage === null || usage === undefined) {
    return { users: [], isUnderstood: true, isCounted: false };
  }
  if (Array.isArray(usage)) {
    const users = usage.map((user, index) => nameOf(user) ?? `entry ${index + 1}`);
    return { users, isUnderstood: true, isCounted: true };
  }
  if (isRecord(usage)) {
    return together(usage, name);
  }
  const count = typeof usage === 'string' && usage.trim() !== '' ? Number(usage) : usage;
  if (typeof count === 'number' && !Number.isNaN(count)) {
    const users = count > 0 ? [field === '' ? String(count) : `${count} ${field}`] : [];
    return { users, isUnderstood: count >= 0, isCounted: true };
  }
  // `inUse: true` is a use, `canDelete: false` may be one too: only these names are understood.
  if (typeof usage === 'boolean' && /^(is|in)?_?(used|use|referenced)$/i.test(field)) {
    return { users: usage ? [field] : [], isUnderstood: true, isCounted: true };
  }
  const isEcho = usage === name || usage === name.replace(/^data\./, '');
  const isLast = /^has_?more$/i.test(field) && usage === false;
  return { users: [], isUnderstood: isEcho || isLast || usage === '', isCounted: false };
}

function together(usage: Record<string, unknown>, name: string): Usage {
  const parts = Object.entries(usage).map(([field, value]) => {
    const part = usersIn(value, field, name);
    const users = part.users.map((user) => (Array.isArray(value) ? `${field}: ${user}` : user));
    return { ...part, users };
  });
  return {
    users: parts.flatMap(({ users }) => users),
    isUnderstood: parts.every(({ isUnderstood }) => isUnderstood),
    isCounted: parts.some(({ isCounted }) => isCounted),
  };
}

function nameOf(user: unknown): string | undefined {
  if (!isRecord(user)) {
    return typeof user === 'string' ? user : undefined;
  }
  const name = user['name'] ?? user['id'];
  return typeof name === 'string' ? name : undefined;
}
