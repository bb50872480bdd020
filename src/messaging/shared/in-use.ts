import { isRecord } from '../../contract/records.js';
import { ConflictError } from '../../errors/index.js';

/** Refuses to delete what the usage of a thing mentions. The document does not show its shape. */
export function refuseIfUsed(kind: string, name: string, usage: unknown): void {
  const users = usersIn(usage);
  if (users.length === 0) {
    return;
  }
  throw new ConflictError(
    `${kind} \`${name}\` was not deleted: it is used by ${users.slice(0, 5).join(', ')}.`,
    { code: 'IN_USE', outcome: 'not-sent', details: usage },
  );
}

// Every entry of every list counts: a list that is not understood must not allow the delete.
function usersIn(usage: unknown): readonly string[] {
  if (Array.isArray(usage)) {
    return usage.map((user, index) => nameOf(user) ?? `entry ${index + 1}`);
  }
  if (!isRecord(usage)) {
    return [];
  }
  return Object.entries(usage).flatMap(([name, value]) => {
    if (typeof value === 'number' && value > 0) {
      return [`${value} ${name}`];
    }
    return usersIn(value).map((user) => (Array.isArray(value) ? `${name}: ${user}` : user));
  });
}

function nameOf(user: unknown): string | undefined {
  if (!isRecord(user)) {
    return typeof user === 'string' ? user : undefined;
  }
  const name = user['name'] ?? user['id'];
  return typeof name === 'string' ? name : undefined;
}
