import type { Contact } from 'postreel/messaging';
import type { Context } from '../../../context.js';
import { tableOf, type Column } from '../../../terminal/table.js';

export interface ListFlags {
  readonly search?: string;
  readonly limit: number;
  readonly all?: boolean;
}

const columns: readonly Column<Contact>[] = [
  { heading: 'Email', text: ({ email }) => email },
  { heading: 'Subscribed', text: ({ subscribed }) => (subscribed ? 'yes' : 'no') },
  { heading: 'Data', text: ({ data }) => (data === null ? '' : JSON.stringify(data)) },
  { heading: 'Id', text: ({ id }) => id },
];

/** `postreel contacts list` */
export async function listContacts(flags: ListFlags, context: Context): Promise<void> {
  const { output, signal } = context;
  const messaging = await context.messaging();
  const { search, limit, all } = flags;
  const most = all ? Infinity : limit;
  const list = messaging.contacts.list(search === undefined ? {} : { search }, { signal });
  const shown: Contact[] = [];
  let total = 0;
  for await (const contact of list) {
    if (total === most) {
      total += 1;
      break;
    }
    total += 1;
    if (output.isJson) {
      output.result(contact, () => '');
    } else {
      shown.push(contact);
    }
  }
  if (!output.isJson) {
    const table = shown.length > 0 ? tableOf(shown, columns, output) : 'No contacts.';
    output.result(shown, () => table);
  }
  if (total > most) {
    output.note(output.paintNote('dim', `There are more: use --all, or --limit above ${limit}.`));
  }
}
