import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, type End, type Place } from './machine.js';
import type { Project } from './table.js';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const quiet = '--prefer-offline --no-audit --no-fund --no-package-lock --loglevel=error';

/** Why a project cannot run here, or nothing. */
export type Reason = string | undefined;

/** Copies a project into a folder of its own, and installs it there with the tarball. */
export async function install(project: Project, place: Place, tarball: string): Promise<Reason> {
  const { folder, env } = place;
  await cp(join(repository, 'test/projects', project.folder ?? project.name), folder, {
    recursive: true,
  });
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Record<string, object>; // as: one of ours
  manifest['dependencies'] = {
    ...manifest['dependencies'],
    ...project.packages,
    postreel: `file:${tarball}`,
  };
  await writeFile(path, JSON.stringify(manifest, null, 2));
  return reasonOf(await run(installCommand(project), { folder, env }));
}

/** What installs a project. */
export function installCommand(project: Project): string {
  return project.install ?? `npm install ${quiet}`;
}

const nodes = new Map<number, Promise<string>>();

/** The folder of a version of Node from npm, installed once. */
export function nodeFolder(version: number, folder: string): Promise<string> {
  const known = nodes.get(version) ?? installNode(version, join(folder, `runtime-${version}`));
  nodes.set(version, known);
  return known;
}

async function installNode(version: number, folder: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  const command = `npm install ${quiet} ${name}@${version}`;
  const reason = reasonOf(await run(command, { folder, env: process.env }));
  if (reason !== undefined) {
    throw new Skipped(`Node ${version} for this machine: ${reason}`);
  }
  return join(folder, 'node_modules', name, 'bin');
}

/** A project that cannot run on this machine. */
export class Skipped extends Error {}

// A package or a version that the registry does not have, in the words of npm, Yarn and pnpm.
const missing = /E404|ETARGET|No matching version|NO_MATCHING_VERSION|FETCH_404|Package not found/i;

/**
 * Why an installation cannot succeed on this machine, or nothing when it did. Only what the machine
 * lacks is a reason to skip: every other failure is an error, also a dependency that does not exist.
 */
export function reasonOf({ isGood, output }: End): Reason {
  if (isGood) {
    return undefined;
  }
  if (!missing.test(output)) {
    if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENOTCACHED/.test(output)) {
      return 'the npm registry cannot be reached';
    }
    if (/EBADPLATFORM/.test(output)) {
      return 'npm has none for this platform';
    }
  }
  throw new Error(`the installation failed:\n${output}`);
}

/** The environment of a project: nothing of the repository or of the npm that runs this. */
export function cleanEnv(folder: string, node: string = dirname(process.execPath)) {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_(?!config_)|INIT_CWD|NODE_(?!EXTRA_CA_CERTS$)|VITEST|MESSAGING_|MEDIA_)/.test(name),
  );
  const path = (process.env['PATH'] ?? '')
    .split(':')
    .filter((part) => !part.includes('node_modules'));
  return {
    ...Object.fromEntries(kept),
    PATH: [join(folder, 'node_modules/.bin'), node, ...path].join(':'),
    CI: '1',
    NEXT_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
  };
}
