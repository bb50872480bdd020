import { isRecord } from '../../contract/records.js';
import { refuse, type InvalidRequestError } from '../../errors/client-errors.js';
import { ConflictError } from '../../errors/index.js';

const sending = { method: 'POST', path: '/campaigns/{id}/send' };

/** The refusal of a body of a send that is no object of fields, with the call that was meant. */
export function notFields(kind: string): InvalidRequestError {
  const message =
    `must be an object of fields; got a ${kind}. ` +
    'Use `campaigns.send(id, { scheduledFor })` or `campaigns.schedule(id, at)`';
  return refuse([{ field: 'body', message }], sending);
}

/** The refusal of a schedule without a time. */
export function notTime(): InvalidRequestError {
  const message =
    'must be a `Date` or an ISO 8601 string; to send now, use `campaigns.sendNow(id)`';
  return refuse([{ field: 'scheduledFor', message }], sending);
}

/** The refusal of a reset that is confirmed for another project. */
export function notConfirmed(id: string, path: string): InvalidRequestError {
  const message = `must be "${id}", the project to reset`;
  return refuse([{ field: 'confirm', message }], { method: 'POST', path });
}

/** Refuses to delete what the usage of a thing mentions. The document does not show its shape. */
export function refuseIfUsed(kind: string, name: string, usage: unknown): void {
  const users = usersIn(usage);
  if (users.length === 0 && isListed(usage)) {
    return;
  }
  if (users.length === 0) {
    throw new ConflictError(
      `${kind} \`${name}\` was not deleted: the service does not say what uses it. Delete it without \`ifUnused\`.`,
      { code: 'USAGE_UNKNOWN', outcome: 'not-sent', details: usage },
    );
  }
  throw new ConflictError(
    `${kind} \`${name}\` was not deleted: it is used by ${users.slice(0, 5).join(', ')}.`,
    { code: 'IN_USE', outcome: 'not-sent', details: usage },
  );
}

// An answer with neither a list nor a count does not say that nothing uses the thing.
function isListed(usage: unknown): boolean {
  return (
    Array.isArray(usage) ||
    typeof usage === 'number' ||
    (isRecord(usage) && Object.values(usage).some(isListed))
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
