/** Writes the tables of `docs/open-records.md`: `npx tsx scripts/open-records/index.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { mediaBehaviors, messagingBehaviors, type Table } from '../../src/testing/index.js';
import { openRecords } from './records.js';

const page = 'docs/open-records.md';

/** The page with its tables as the code has them; the words around them stay. */
export async function derived(text: string): Promise<string> {
  const withRecords = between(text, 'records', recordTables());
  const whole = between(withRecords, 'settings', settingTables());
  return format(whole, { parser: 'markdown', printWidth: 100, singleQuote: true });
}

function recordTables(): string {
  return Object.entries(openRecords)
    .map(([title, rows]) => {
      const lines = rows.map(({ name, what, silent, settings }) =>
        line([`\`${name}\``, what, silent, settings.map((one) => `\`${one}\``).join(', ')]),
      );
      const head = line(['type', 'what it is', 'where the document leaves it open', 'settings']);
      return [`### ${title}`, '', head, line(['-', '-', '-', '-']), ...lines].join('\n');
    })
    .join('\n\n');
}

function settingTables(): string {
  const { shared, messaging, media } = split();
  return [
    '### Of both fakes',
    table(shared),
    '### Of `createFakeMessaging()`',
    table(messaging),
    '### Of `createFakeMedia()`',
    table(media),
  ].join('\n\n');
}

/** A setting is shared when both tables have the very same one. */
function split(): Record<'shared' | 'messaging' | 'media', Table> {
  const messagingTable: Table = messagingBehaviors;
  const mediaTable: Table = mediaBehaviors;
  const isShared = (name: string) => messagingTable[name] === mediaTable[name];
  const only = (from: Table, wanted: boolean) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => isShared(name) === wanted));
  return {
    shared: only(messagingTable, true),
    messaging: only(messagingTable, false),
    media: only(mediaTable, false),
  };
}

function table(settings: Table): string {
  const rows = Object.entries(settings).map(([name, { values, what, silent }]) =>
    line([`\`${name}\``, values.map((value) => `\`${value}\``).join(', '), what, silent]),
  );
  const head = line(['setting', 'values, the default first', 'what differs', 'where it is silent']);
  return [head, line(['-', '-', '-', '-']), ...rows].join('\n');
}

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

function between(text: string, name: string, tables: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) {
    throw new Error(`${page} has no ${start} … ${end}.`);
  }
  return `${text.slice(0, from)}${start}\n\n${tables}\n\n${text.slice(to)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(page, await derived(readFileSync(page, 'utf8')));
}
