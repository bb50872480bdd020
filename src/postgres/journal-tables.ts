/**
 * The journals: only what is not over, and the names for good. A claim is one step: whoever comes
 * second finds the names taken. A journal's entries are written one after the other.
 */
export const journalTables = `
create table if not exists postreel_intents (
  journal text not null,
  id text not null,
  written_at timestamptz not null default clock_timestamp(),
  position bigint generated always as identity,
  intent jsonb not null,
  primary key (journal, id)
);
create index if not exists postreel_intents_by_name on postreel_intents
  using gin ((intent->'names'));
create table if not exists postreel_jobs (
  journal text not null,
  file_id text not null,
  position bigint generated always as identity,
  job jsonb not null,
  status text,
  is_listed boolean not null default true,
  primary key (journal, file_id)
);
create index if not exists postreel_jobs_listed on postreel_jobs (journal, position) where is_listed;
create table if not exists postreel_names (
  journal text not null,
  name text not null,
  file_id text not null,
  primary key (journal, name)
);
create index if not exists postreel_names_by_file on postreel_names (journal, file_id);

create or replace function postreel_known(the_journal text, the_names text[])
returns table (name text, known jsonb)
language sql stable as $$
  select wanted.name, case
    when n.file_id is not null and not coalesce((i.intent->>'retriesFailed')::boolean, false) then
      jsonb_build_object('state', 'accepted', 'job', j.job, 'status', j.status)
    else jsonb_build_object('state', 'claimed', 'id', i.id,
      'ageMs', extract(epoch from clock_timestamp() - i.written_at) * 1000)
    end
  from unnest(the_names) as wanted (name)
  left join postreel_names n on n.journal = the_journal and n.name = wanted.name
  left join postreel_jobs j on j.journal = the_journal and j.file_id = n.file_id
  left join lateral (
    select id, intent, written_at from postreel_intents
      where journal = the_journal and intent->'names' ? wanted.name
      order by position desc limit 1
  ) i on true
  where n.file_id is not null or i.id is not null
$$;

create or replace function postreel_write_intent(the_journal text, the_intent jsonb) returns void
language sql as $$
  insert into postreel_intents (journal, id, intent)
    values (the_journal, the_intent->>'id', the_intent)
    on conflict (journal, id) do update set intent = excluded.intent
$$;

-- Answers what is known of the names that are taken; an intent that takes none is written.
create or replace function postreel_claim(the_journal text, the_intent jsonb)
returns table (name text, known jsonb)
language plpgsql as $$
declare
  retries boolean := coalesce((the_intent->>'retriesFailed')::boolean, false);
  wanted text[] := array(
    select jsonb_array_elements_text(coalesce(the_intent->'names', '[]')));
begin
  perform pg_advisory_xact_lock(hashtextextended('postreel journal ' || the_journal, 0));
  return query select taken.name, taken.known from postreel_known(the_journal, wanted) as taken
    where not (retries and taken.known->>'state' = 'accepted'
      and coalesce(taken.known->>'status', '') in ('error', 'canceled'));
  if not found then
    perform postreel_write_intent(the_journal, the_intent);
  end if;
end $$;

create or replace function postreel_accept(the_journal text, the_entry jsonb) returns void
language plpgsql as $$
declare
  open_intent jsonb;
  ids jsonb := the_entry->'jobs';
  rest_jobs jsonb;
  rest_names jsonb;
begin
  insert into postreel_jobs (journal, file_id, job)
    select distinct on (job->>'fileId') the_journal, job->>'fileId', job
    from jsonb_array_elements(ids || coalesce(the_entry->'unassigned', '[]')) with ordinality
      as listed (job, place)
    where jsonb_typeof(job) = 'object'
    order by job->>'fileId', place desc
    on conflict (journal, file_id) do update
      set job = excluded.job, status = null, is_listed = true;
  select intent into open_intent from postreel_intents
    where journal = the_journal and id = the_entry->>'id';
  if open_intent is null then
    return;
  end if;
  insert into postreel_names (journal, name, file_id)
    select distinct on (name) the_journal, name, ids->(place::int - 1)->>'fileId'
    from jsonb_array_elements_text(coalesce(open_intent->'names', '[]')) with ordinality
      as named (name, place)
    where jsonb_typeof(ids->(place::int - 1)) = 'object'
    order by name, place desc
    on conflict (journal, name) do update set file_id = excluded.file_id;
  select coalesce(jsonb_agg(job order by place), '[]') into rest_jobs
    from jsonb_array_elements(open_intent->'jobs') with ordinality as listed (job, place)
    where jsonb_typeof(coalesce(ids->(place::int - 1), 'null')) <> 'object';
  select coalesce(jsonb_agg(name order by place), '[]') into rest_names
    from jsonb_array_elements(coalesce(open_intent->'names', '[]')) with ordinality
      as listed (name, place)
    where jsonb_typeof(coalesce(ids->(place::int - 1), 'null')) <> 'object';
  if rest_jobs = '[]' and rest_names = '[]' then
    delete from postreel_intents where journal = the_journal and id = the_entry->>'id';
    return;
  end if;
  open_intent := jsonb_set(open_intent, '{jobs}', rest_jobs);
  if open_intent ? 'names' then
    open_intent := jsonb_set(open_intent, '{names}', rest_names);
  end if;
  update postreel_intents set intent = open_intent
    where journal = the_journal and id = the_entry->>'id';
end $$;

create or replace function postreel_append(the_journal text, the_entry jsonb) returns void
language plpgsql as $$
declare
  kind text := the_entry->>'type';
  the_file text := the_entry->>'fileId';
  the_status text := the_entry->>'status';
begin
  perform pg_advisory_xact_lock(hashtextextended('postreel journal ' || the_journal, 0));
  if kind = 'intent' then
    perform postreel_write_intent(the_journal, the_entry);
  elsif kind = 'accepted' then
    perform postreel_accept(the_journal, the_entry);
  elsif kind = 'refused' then
    delete from postreel_intents where journal = the_journal and id = the_entry->>'id';
  else
    update postreel_jobs set
      status = case when status in ('error', 'canceled') then status else the_status end,
      is_listed = is_listed and kind = 'finished' and the_status not in ('error', 'canceled')
      where journal = the_journal and file_id = the_file;
    delete from postreel_jobs where journal = the_journal and file_id = the_file
      and not is_listed and not exists (
        select from postreel_names where journal = the_journal and file_id = the_file);
  end if;
end $$;
`;
