import type { Command } from 'commander';
import type { Context } from '../../context.js';
import { examples, wholeNumber, yesOption } from '../options.js';
import { exportContacts } from './contacts/export.js';
import { importContacts } from './contacts/import.js';
import { listContacts, type ListFlags } from './contacts/list.js';

/** `postreel contacts` */
export function addContacts(program: Command, context: Context): void {
  const contacts = program.command('contacts').description('list, import and export contacts');
  contacts
    .command('list')
    .description('list contacts; one line of JSON each without a terminal')
    .option('--search <text>', 'a part of the email')
    .option('--limit <count>', 'the most contacts to list', wholeNumber(1), 20)
    .option('--all', 'list every contact')
    .addHelpText('after', examples('contacts list', 'contacts list --search @example.com --all'))
    .action((flags: ListFlags) => listContacts(flags, context));
  contacts
    .command('import')
    .description('import a CSV file of any size, with a column `email`')
    .argument('<file>', 'CSV file')
    .addOption(yesOption())
    .addHelpText(
      'after',
      examples('contacts import people.csv', 'contacts import people.csv --yes'),
    )
    .action((file: string, flags: { readonly yes?: boolean }) =>
      importContacts(file, flags, context),
    );
  contacts
    .command('export')
    .description('write contacts as CSV, and say what a CSV file cannot carry')
    .argument('[file]', 'CSV file, or stdout without it')
    .option('--search <text>', 'a part of the email')
    .option('--force', 'overwrite the file if it exists')
    .addHelpText('after', examples('contacts export people.csv', 'contacts export > people.csv'))
    .action((file: string | undefined, flags: { readonly search?: string }) =>
      exportContacts(file, flags, context),
    );
}
