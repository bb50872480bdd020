import type { RequestOptions, Paginated } from '../../core/types.js';
import { invalidRequest, ConflictError, NotFoundError } from '../../core/errors.js';
import type { Contact, ContactQuery } from './types.js';

type List<Fields extends object> = (
  query: ContactQuery,
  options?: RequestOptions,
) => Paginated<Contact<Fields>>;

/**
 * Finds the contact with an email: the search matches parts, so that it reads on to the whole. An exact
 * match wins; several that differ in case are refused, since a guess might change the wrong contact.
 */
export async function findByEmail<Fields extends object>(
  list: List<Fields>,
  email: string,
  options?: RequestOptions,
): Promise<Contact<Fields> | undefined> {
  if (typeof email !== 'string') {
    throw invalidRequest([{ field: 'email', message: 'must be an email address' }]);
  }
  const wanted = email.trim();
  const inexact: Contact<Fields>[] = [];
  for await (const contact of list({ search: wanted }, options)) {
    const found: unknown = contact.email; // a service may well leave it out
    if (found === wanted) {
      return contact;
    }
    if (typeof found === 'string' && found.toLowerCase() === wanted.toLowerCase()) {
      inexact.push(contact);
    }
  }
  if (inexact.length > 1) {
    throw new ConflictError(
      `${inexact.length} contacts have this email in other upper and lower case letters. Give it exactly as the contact has it, or use the contact's id.`,
      { code: 'EMAIL_AMBIGUOUS', outcome: 'not-sent' },
    );
  }
  return inexact[0];
}

/** The id of the contact that an id or an email names; no contact is created. */
export async function idOf<Fields extends object>(
  list: List<Fields>,
  idOrEmail: string,
  options?: RequestOptions,
): Promise<string> {
  // What is neither is refused by the call itself.
  if (typeof idOrEmail !== 'string' || !idOrEmail.includes('@')) {
    return idOrEmail;
  }
  const contact = await findByEmail(list, idOrEmail, options);
  if (contact) {
    return contact.id;
  }
  throw new NotFoundError('No contact has this email. None was created or changed.', {
    code: 'CONTACT_NOT_FOUND',
    outcome: 'not-sent',
  });
}
