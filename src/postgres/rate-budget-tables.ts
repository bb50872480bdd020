/**
 * The rate budgets. Every time is the server's own. The row of a project is changed in each step that
 * counts, so that such steps come one after the other, and fail to be run again where the isolation is
 * higher than usual: there a step that only waited would count what was there before its wait. Slots
 * do not wait for the disk: when the server crashes, the last fraction of a second of them is
 * forgotten.
 */
export const rateBudgetTables = `
create table if not exists postreel_projects (
  project text primary key,
  steps bigint not null default 0,
  closed_until timestamptz not null default '-infinity',
  tried_at timestamptz not null default '-infinity'
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
  insert into postreel_projects (project) values (the_project)
    on conflict (project) do update set steps = postreel_projects.steps + 1;
  return clock_timestamp();
end $$;

create or replace function postreel_after(ms double precision) returns interval
language sql immutable as $$ select make_interval(secs => ms / 1000) $$;

-- Answers the slots that were taken, or how many milliseconds to wait. While the project is closed,
-- one slot a window is a probe: tried_at is when it was closed or last tried.
create or replace function postreel_take_slots(
  the_project text, ids text[], capacity int, window_ms double precision, lease_ms double precision,
  out slots text[], out wait_ms double precision, out is_probe boolean
)
language plpgsql as $$
declare
  now_at timestamptz := postreel_lock(the_project);
  longest timestamptz := now_at + postreel_after(lease_ms);
  closed timestamptz;
  tried timestamptz;
  free int;
begin
  select least(closed_until, now_at + interval '1 hour'), tried_at into closed, tried
    from postreel_projects where project = the_project;
  is_probe := closed > now_at;
  if is_probe and tried <= now_at and now_at - tried < postreel_after(window_ms) then
    wait_ms := ceil(extract(epoch from closed - now_at) * 1000);
    return;
  end if;
  delete from postreel_slots where project = the_project and free_at <= now_at;
  update postreel_slots set free_at = longest where project = the_project and free_at > longest;
  select capacity - count(*) into free from postreel_slots where project = the_project;
  if free <= 0 then
    select ceil(extract(epoch from min(free_at) - now_at) * 1000) into wait_ms
      from postreel_slots where project = the_project;
    wait_ms := greatest(1, least(wait_ms, window_ms));
    return;
  end if;
  slots := ids[1:case when is_probe then 1 else free end];
  insert into postreel_slots select the_project, id, longest from unnest(slots) as id;
  if is_probe then
    update postreel_projects set tried_at = now_at where project = the_project;
  end if;
end $$;

create or replace function postreel_keep_slots(
  the_project text, ids text[], ms double precision
) returns void
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into postreel_slots
    select the_project, id, clock_timestamp() + postreel_after(ms) from unnest(ids) as id
    on conflict (project, id) do update set free_at = excluded.free_at;
end $$;

-- For 0 milliseconds the project is open again.
create or replace function postreel_close(the_project text, delay_ms double precision) returns void
language plpgsql as $$
declare
  now_at timestamptz := postreel_lock(the_project);
begin
  update postreel_projects
    set tried_at = now_at, closed_until = case
      when delay_ms > 0 then greatest(closed_until, now_at + postreel_after(delay_ms))
      else now_at
    end
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
