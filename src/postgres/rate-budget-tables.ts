/**
 * The rate budgets. Every time is the server's own. The row of a project is locked for each step,
 * so that steps come one after the other. Slots do not wait for the disk: when the server crashes,
 * the last fraction of a second of them is forgotten.
 */
export const rateBudgetTables = `
create table if not exists postreel_projects (
  project text primary key,
  closed_until timestamptz not null default '-infinity'
);
create table if not exists postreel_slots (
  project text not null,
  id text not null,
  free_at timestamptz not null,
  primary key (project, id)
);
create index if not exists postreel_slots_by_time on postreel_slots (project, free_at);
create table if not exists postreel_places (
  project text not null,
  name text not null,
  free_at timestamptz not null,
  primary key (project, name)
);

create or replace function postreel_lock(the_project text) returns timestamptz
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into postreel_projects (project) values (the_project) on conflict do nothing;
  perform 1 from postreel_projects where project = the_project for update;
  return clock_timestamp();
end $$;

create or replace function postreel_after(ms double precision) returns interval
language sql immutable as $$ select make_interval(secs => ms / 1000) $$;

-- Answers how many milliseconds to wait: 0 for a slot that was taken.
create or replace function postreel_take(
  the_project text, slot text, capacity int, window_ms double precision, lease_ms double precision
) returns double precision
language plpgsql as $$
declare
  now_at timestamptz := postreel_lock(the_project);
  longest timestamptz := now_at + postreel_after(lease_ms);
  closed timestamptz;
  first_free timestamptz;
begin
  select least(closed_until, now_at + interval '1 hour') into closed
    from postreel_projects where project = the_project;
  if closed > now_at then
    return ceil(extract(epoch from closed - now_at) * 1000);
  end if;
  delete from postreel_slots where project = the_project and free_at <= now_at;
  update postreel_slots set free_at = longest where project = the_project and free_at > longest;
  if (select count(*) from postreel_slots where project = the_project) >= capacity then
    select min(free_at) into first_free from postreel_slots where project = the_project;
    return greatest(1, least(ceil(extract(epoch from first_free - now_at) * 1000), window_ms));
  end if;
  insert into postreel_slots values (the_project, slot, longest);
  return 0;
end $$;

create or replace function postreel_keep_slot(
  the_project text, slot text, window_ms double precision
) returns void
language plpgsql as $$
declare
  now_at timestamptz := postreel_lock(the_project);
begin
  insert into postreel_slots values (the_project, slot, now_at + postreel_after(window_ms))
    on conflict (project, id) do update set free_at = excluded.free_at;
end $$;

create or replace function postreel_close(the_project text, delay_ms double precision) returns void
language plpgsql as $$
declare
  now_at timestamptz := postreel_lock(the_project);
begin
  update postreel_projects
    set closed_until = greatest(closed_until, now_at + postreel_after(delay_ms))
    where project = the_project;
end $$;

create or replace function postreel_lease(
  the_project text, names text[], most int, lease_ms double precision
) returns setof text
language plpgsql as $$
declare
  now_at timestamptz := postreel_lock(the_project);
  longest timestamptz := now_at + postreel_after(lease_ms);
  free int;
begin
  delete from postreel_places where project = the_project and free_at <= now_at;
  update postreel_places set free_at = longest where project = the_project and free_at > longest;
  select greatest(0, most - count(*)) into free from postreel_places where project = the_project;
  return query insert into postreel_places
    select the_project, name, longest from unnest(names) as name limit free
    returning postreel_places.name;
end $$;

create or replace function postreel_hold(
  the_project text, names text[], instead text[], lease_ms double precision
) returns void
language plpgsql as $$
declare
  now_at timestamptz := postreel_lock(the_project);
begin
  delete from postreel_places where project = the_project and name = any (instead);
  insert into postreel_places
    select distinct the_project, name, now_at + postreel_after(lease_ms) from unnest(names) as name
    on conflict (project, name) do update set free_at = excluded.free_at;
end $$;
`;
