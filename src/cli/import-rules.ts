import type { ImportAllOptions } from 'postreel/messaging';
import { parseColumnsOption } from '../messaging/contacts/import-columns.js';
import type { Survey } from '../messaging/contacts/import.js';
import type { ImportRules } from '../messaging/contacts/import-rows.js';

/** The options that say who is subscribed, and which column is which field. */
export type Statement = Pick<ImportAllOptions, 'columns' | 'newContacts' | 'subscribed'>;

/** The rules of `importAll()` for these options, for the text of a plan. */
export function rulesOf({ columns, newContacts, subscribed }: Statement): ImportRules {
  return {
    named: parseColumnsOption(columns),
    newContacts,
    subscribed,
    isStated: newContacts !== undefined || subscribed !== undefined,
    data: {},
    warn: () => undefined,
  };
}

/** The number of rows with subscribed, unsubscribed and no value, in words. */
export function formatSubscriptions({ subscriptions, records }: Survey): string {
  const countRows = (count: number, words: string) =>
    `${count} ${count === 1 ? 'row says' : 'rows say'} ${words}`;
  const each = [
    countRows(subscriptions.subscribed, 'subscribed'),
    countRows(subscriptions.unsubscribed, 'unsubscribed'),
    countRows(subscriptions.nothing, 'nothing'),
  ].join(', ');
  return records > 0
    ? `${each}; ${records} of them are records that were read, which subscribe no existing contact`
    : each;
}

/** The treatment of the rows without a `subscribed` value, in words. */
export function formatDefault({ newContacts, subscribed }: Statement): string {
  if (subscribed !== undefined) {
    return `${subscribed ? 'subscribed' : 'unsubscribed'}, existing contacts included`;
  }
  return newContacts === undefined
    ? 'not imported'
    : `new contacts are ${newContacts}, existing contacts keep their state`;
}
