/** The journals: keys and values. The order of keys is that of their bytes, whatever the database sorts by. */
export const journalTables = `
create table if not exists postreel_journal (
  journal text not null,
  key text collate "C" not null,
  value text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (journal, key)
);
`;
