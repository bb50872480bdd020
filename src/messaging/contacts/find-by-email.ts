import type { RequestOptions } from '../../contract/call.js';
import type { Paginated } from '../../contract/paginated.js';
import { NotFoundError } from '../../errors/index.js';
import type { Contact, ContactQuery } from './types.js';

type List<Fields extends object> = (
  query: ContactQuery,
  options?: RequestOptions,
) => Paginated<Contact<Fields>>;

/** Finds the contact with an email: the search matches parts, so that it reads on to the whole. */
export async function findByEmail<Fields extends object>(
  list: List<Fields>,
  email: string,
  options?: RequestOptions,
): Promise<Contact<Fields> | undefined> {
  const wanted = email.trim().toLowerCase();
  for await (const contact of list({ search: email.trim() }, options)) {
    if (contact.email.toLowerCase() === wanted) {
      return contact;
    }
  }
  return undefined;
}

/** The id of the contact that an id or an email names; nobody is created. */
export async function idOf<Fields extends object>(
  list: List<Fields>,
  idOrEmail: string,
  options?: RequestOptions,
): Promise<string> {
  if (!idOrEmail.includes('@')) {
    return idOrEmail;
  }
  const contact = await findByEmail(list, idOrEmail, options);
  if (contact) {
    return contact.id;
  }
  throw new NotFoundError('No contact has this email. Nobody was created or changed.', {
    code: 'CONTACT_NOT_FOUND',
    outcome: 'not-sent',
  });
}
