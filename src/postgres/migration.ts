import { checkPostgres, warnWithoutListener, type PostgresClient } from './client.js';

/**
 * The rate budgets. All times come from the server.
 * Each step that counts first changes the row of its project, so that such steps run one after the other.
 * With a stricter isolation level than the default they fail and are run again: a step that only waited would
 * count the state from before its wait.
 * Leases do not wait for the disk: if the server crashes, the last fraction of a second of them is lost.
 */
const rateBudgets = `
create table if not exists postreel_projects (
  project text primary key,
  steps bigint not null default 0,
  closed_until timestamptz not null default 'epoch'
);
create table if not exists postreel_leases (
  project text not null,
  kind text not null, -- slot, place
  name text not null,
  free_at timestamptz not null,
  primary key (project, kind, name)
);
create index if not exists postreel_leases_by_time on postreel_leases (project, kind, free_at);

create or replace function postreel_after(ms double precision) returns interval
language sql immutable as $$ select make_interval(secs => ms / 1000) $$;

create or replace function postreel_until(at timestamptz) returns double precision
language sql volatile as $$ select ceil(extract(epoch from at - clock_timestamp()) * 1000) $$;

-- Takes as many of the names as are free, or says for how many milliseconds none is: a request under way is
-- answered at the earliest now, and frees its slot a window later.
create or replace function postreel_take(
  the_project text, the_kind text, names text[], most int,
  lease_ms double precision, window_ms double precision,
  out taken int, out wait_ms double precision
)
language plpgsql as $$
declare
  now_at timestamptz;
  closed timestamptz;
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into postreel_projects (project) values (the_project)
    on conflict (project) do update set steps = postreel_projects.steps + 1
    returning closed_until into closed;
  now_at := clock_timestamp();
  taken := 0;
  if the_kind = 'slot' and closed > now_at then
    wait_ms := postreel_until(closed);
    return;
  end if;
  delete from postreel_leases where project = the_project and kind = the_kind and free_at <= now_at;
  select least(cardinality(names), greatest(0, most - count(*))), postreel_until(min(free_at))
    into taken, wait_ms
    from postreel_leases where project = the_project and kind = the_kind;
  wait_ms := greatest(1, least(wait_ms, window_ms));
  insert into postreel_leases
    select the_project, the_kind, name, now_at + postreel_after(lease_ms)
    from unnest(names[1:taken]) as name;
end $$;

-- Keeps leases for so long from now; those in "instead" are given back for them.
create or replace function postreel_hold(
  the_project text, the_kind text, names text[], instead text[], ms double precision
) returns void
language plpgsql as $$
declare
  until timestamptz := clock_timestamp() + postreel_after(ms);
begin
  perform set_config('synchronous_commit', 'off', true);
  delete from postreel_leases
    where project = the_project and kind = the_kind and name = any (instead);
  insert into postreel_leases
    select distinct the_project, the_kind, name, until from unnest(names) as name
    on conflict (project, kind, name) do update set free_at = excluded.free_at;
end $$;

create or replace function postreel_close(the_project text, ms double precision) returns void
language sql as $$
  insert into postreel_projects (project, closed_until)
    values (the_project, clock_timestamp() + postreel_after(ms))
    on conflict (project) do update
      set closed_until = greatest(postreel_projects.closed_until, excluded.closed_until);
$$;
`;

/** The journals. Keys are sorted by their bytes, whatever the collation of the database. */
const journals = `
create table if not exists postreel_journal (
  journal text not null,
  key text collate "C" not null,
  value text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (journal, key)
);
`;

/**
 * The tables and functions of this package as SQL, for your own migration tool. It can be run again, and
 * drops nothing.
 */
export const postgresMigration = rateBudgets + journals;

// The key of an advisory lock: two migrations at the same time would disturb each other.
const migrationLock = 7_067_843_121;

/** Creates the tables and functions of this package that are missing. */
export async function migratePostgres(pool: PostgresClient): Promise<void> {
  checkPostgres(pool, 'migratePostgres');
  warnWithoutListener(pool);
  // One statement, so that the lock and the tables share a transaction on a pool too.
  await pool.query(`do $migration$ begin
    perform pg_advisory_xact_lock(${migrationLock});
    ${postgresMigration}
  end $migration$`);
}
