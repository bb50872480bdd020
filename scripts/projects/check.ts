import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { documentOf } from './browser.js';
import {
  noPostgres,
  startPostgres,
  type PostgresServer,
} from '../../test/support/stores/postgres-server.js';
import { cleanEnv, install, installCommand, nodeFolder, Skipped } from './install.js';
import { run, visit, type End, type Place } from './machine.js';
import { startService, type Service } from './service.js';
import type { Project, Row } from './table.js';
import { hasOurWarning } from './warnings.js';

/** One line of the table. */
export interface Cell {
  readonly project: string;
  readonly row: string;
  readonly result: 'passed' | 'skipped' | 'FAILED';
  /** Why it was skipped, or what failed. */
  readonly reason: string;
  readonly seconds: number;
  /** What a failed command printed. */
  readonly output?: string;
}

/** Installs a project in a folder of its own, and tries all of its rows. */
export async function check(project: Project, base: string, tarball: string): Promise<Cell[]> {
  const started = Date.now();
  const cell = (row: string, result: Cell['result'], reason = '', output = ''): Cell => ({
    project: project.name,
    row,
    result,
    reason,
    output,
    seconds: (Date.now() - started) / 1000,
  });
  const service = await startService();
  let database: PostgresServer | undefined;
  try {
    database = await startDatabase(project);
    const { folder, env } = await prepare(project, base, tarball);
    const place = { folder, env: { ...env, DATABASE_URL: database?.url } };
    const cells = [cell('install', 'passed')];
    for (const row of project.rows) {
      const before = Date.now();
      const [result, reason, output] = await tryRow(row, place, service);
      cells.push({
        ...cell(row.name, result, reason, output),
        seconds: (Date.now() - before) / 1000,
      });
    }
    return cells;
  } catch (error) {
    if (error instanceof Skipped) {
      return project.rows.map((row) => cell(row.name, 'skipped', error.message));
    }
    return [cell('install', 'FAILED', installCommand(project), String(error))];
  } finally {
    await service.close();
    await database?.stop();
  }
}

async function startDatabase({ needs }: Project): Promise<PostgresServer | undefined> {
  if (needs === undefined) {
    return undefined;
  }
  if (noPostgres !== undefined) {
    throw new Skipped(noPostgres);
  }
  return startPostgres();
}

async function prepare(project: Project, base: string, tarball: string): Promise<Place> {
  const folder = join(base, project.name);
  await mkdir(folder, { recursive: true });
  const node = project.node === undefined ? undefined : await nodeFolder(project.node, base);
  const place = { folder, env: cleanEnv(folder, node) };
  const reason = await install(project, place, tarball);
  if (reason !== undefined) {
    throw new Skipped(reason);
  }
  return place;
}

type Verdict = readonly [result: Cell['result'], reason?: string, output?: string];

async function tryRow(row: Row, place: Place, service: Service): Promise<Verdict> {
  const env = row.keys === false ? place.env : { ...place.env, ...service.env };
  const { isGood, output } = await ofRow(row, { ...place, env });
  const { emails, events } = service.count();
  if (!isGood) {
    return ['FAILED', row.run ?? row.serve ?? '', output];
  }
  if (row.noWarnings && hasOurWarning(output)) {
    return ['FAILED', `${row.run ?? ''} warns`, output];
  }
  if (!output.includes(row.answer ?? '')) {
    return ['FAILED', `${row.open ?? ''} does not say ${row.answer ?? ''}`, output];
  }
  if (emails !== (row.emails ?? 0) || events !== (row.events ?? 0)) {
    return ['FAILED', `${emails} emails and ${events} events arrived`, output];
  }
  return ['passed'];
}

// Some frameworks take a request without a content type for a form of another site.
const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };

function ofRow(row: Row, place: Place): Promise<End> {
  if (row.run !== undefined) {
    return run(row.run, place);
  }
  const path = row.open ?? '/';
  return visit(row.serve ?? '', place, async (url) => {
    if (row.by === 'chromium') {
      return documentOf(`${url}${path}`, row.answer ?? '');
    }
    const response = await fetch(`${url}${path}`, row.by === 'post' ? post : {});
    return `${response.status} ${await response.text()}`;
  });
}
