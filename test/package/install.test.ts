import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { pack } from '../../scripts/pack.js';
import { cleanEnv, reasonOf } from '../../scripts/projects/install.js';
import { emptyFolder } from '../support/empty-folder.js';
import { manifest } from '../support/package/installed.js';

const execute = promisify(execFile);

/** For each optional peer, a version older than the one its entry point needs. */
const old = {
  '@modelcontextprotocol/sdk': '1.0.0',
  '@opentelemetry/api': '1.2.0',
  bullmq: '4.18.3',
  ioredis: '4.30.1',
  msw: '2.4.0',
  pg: '7.18.2',
  'pg-boss': '9.0.3',
  react: '17.0.2',
};

it('npm installs the package next to any version of a peer that is not used', async ({ skip }) => {
  expect(Object.keys(old)).toEqual(Object.keys(manifest.peerDependencies));
  const folder = emptyFolder();
  const postreel = `file:${await pack(folder)}`;
  const dependencies = { ...old, postreel };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  // npm resolves everything and downloads no package.
  const flags = ['--package-lock-only', '--prefer-offline', '--no-audit', '--no-fund'];
  const end = await execute('npm', ['install', ...flags], {
    cwd: folder,
    env: cleanEnv(folder),
  }).then(
    ({ stdout, stderr }) => ({ isGood: true, output: stdout + stderr }),
    (error: unknown) => ({ isGood: false, output: String(error) }),
  );
  skip(reasonOf(end) !== undefined, reasonOf(end));
  expect(end.output).not.toContain('ERESOLVE');
});
