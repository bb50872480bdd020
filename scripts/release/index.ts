import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publicNamesFile } from '../public-names.js';
import { writeStubs } from '../stubs.js';
import { changedNames, missingNames, unreleased } from './changelog.js';
import { contactProblems } from './contact.js';
import { originOf } from './repository.js';
import { buildTwice } from './reproduce.js';
import { sbomOf } from './sbom.js';
import { problemsOf, readTarball } from './tarball.js';

/**
 * Prepares a release: `npm run release -- --dry-run` runs `npm run check`, builds, packs and publishes
 * nothing. The tarball and its bill of materials are in `release/`. The tests are a job of the
 * workflow, and so is publishing: it can prove where the tarball was made.
 */
async function release(args: readonly string[]): Promise<void> {
  if (!args.includes('--dry-run')) {
    throw new Error('Push a tag: the workflow publishes. Here only --dry-run works.');
  }
  if (!args.includes('--skip-checks')) {
    step('npm run check');
    run('npm', ['run', 'check']);
  }
  step('two builds from two clones');
  const { folder, files, hash } = await buildTwice();
  say(`${files} files with the same bytes, sha256 ${hash}`);
  step('pack');
  mkdirSync('release', { recursive: true });
  nameOrigin(folder);
  const tarball = pack(folder);
  step('the tarball');
  refuse(problemsOf(await readTarball(tarball)));
  step('what is bundled');
  const sbom = sbomOf(folder);
  writeFileSync('release/sbom.cdx.json', `${JSON.stringify(sbom, undefined, 2)}\n`);
  say(`release/sbom.cdx.json: ${sbom.components.length} packages`);
  step('the changelog and the security contact');
  refuse([...changelogProblems(), ...contactProblems(readFileSync('SECURITY.md', 'utf8'))]);
  say('Ready. Nothing was published.');
}

/** Writes into the manifest where the package comes from: the README's links are relative to that. */
function nameOrigin(folder: string): void {
  const origin = originOf(process.env);
  if (!origin) {
    say('No repository is known here. The workflow names its own, and the README links to it.');
    return;
  }
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as object; // as: a manifest is an object
  writeFileSync(file, `${JSON.stringify({ ...manifest, ...origin }, undefined, 2)}\n`);
}

function pack(folder: string): string {
  writeStubs(folder);
  const args = [
    'pack',
    '--json',
    '--ignore-scripts',
    '--pack-destination',
    join(process.cwd(), 'release'),
  ];
  const text = execFileSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const [packed] = JSON.parse(text) as [{ filename: string; size: number; unpackedSize: number }]; // as: npm's documented output
  say(`release/${packed.filename}: ${packed.size} bytes packed, ${packed.unpackedSize} unpacked`);
  return `release/${packed.filename}`;
}

/** Public names that came or went since the last tag and that the hand-written changelog leaves out. */
function changelogProblems(): string[] {
  const tag = lastTag();
  const written = unreleased(readFileSync('CHANGELOG.md', 'utf8'));
  if (written === '') {
    return ['CHANGELOG.md has nothing under Unreleased.'];
  }
  if (tag === undefined) {
    say('No earlier release: there is nothing to compare.');
    return [];
  }
  const before = execFileSync('git', ['show', `${tag}:${publicNamesFile}`], { encoding: 'utf8' });
  const changed = changedNames(before, readFileSync(publicNamesFile, 'utf8'));
  return missingNames(changed, written).map((name) => `CHANGELOG.md does not mention ${name}.`);
}

function lastTag(): string | undefined {
  const tags = execFileSync('git', ['tag', '--list', 'v*', '--sort=-v:refname'], {
    encoding: 'utf8',
  });
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  // The tag that is being released is not the one before.
  return tags.split('\n').find((tag) => tag !== '' && tag !== `v${version}`);
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) {
    throw new Error(problems.join('\n'));
  }
  say('ok');
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { stdio: 'inherit' });
}

const step = (name: string) => console.log(`\n== ${name}`);
const say = (text: string) => console.log(text);

release(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
