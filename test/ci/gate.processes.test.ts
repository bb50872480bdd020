import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) {
    rmSync(folder, { recursive: true });
  }
});

/** Runs the gate with a stub of npm that fails or prints for these arguments. */
function runGate(answers: Readonly<Record<string, { code?: number; prints?: string }>>) {
  const folder = mkdtempSync(join(tmpdir(), 'postreel-gate-'));
  folders.push(folder);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  cpSync('.ci', join(folder, '.ci'), { recursive: true });
  const calls = join(folder, 'calls');
  const cases = Object.entries(answers).map(
    ([words, { code = 0, prints = '' }]) => `"${words}") echo '${prints}'; exit ${code};;`,
  );
  const stub = `#!/bin/sh\necho "$*" >> '${calls}'\ncase "$*" in\n${cases.join('\n')}\nesac\n`;
  writeFileSync(join(bin, 'npm'), stub, { mode: 0o755 });
  const nothing = ['chromium', 'firefox-esr', 'WebKitWebDriver', 'Xvfb', 'redis-server', 'apt-get'];
  for (const name of nothing) {
    writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
  }
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const { status, stdout } = spawnSync('bash', ['.ci/run'], { cwd: folder, env, encoding: 'utf8' });
  return {
    status,
    last: stdout.trimEnd().split('\n').at(-1),
    calls: readFileSync(calls, 'utf8').trimEnd().split('\n'),
  };
}

const suites = ['sockets', 'processes', 'stores', 'browsers', 'package', 'types'];

describe('the gate', () => {
  it('runs the test command of the README, each heavy suite and each check, and adds up their counts', () => {
    const { status, last, calls } = runGate({
      test: { prints: '8 passed, 0 failed, 1 skipped' },
      'run test:stores': { prints: '3 passed, 0 failed, 2 skipped' },
    });
    expect(calls).toEqual([
      'ci',
      'test',
      ...suites.map((suite) => `run test:${suite}`),
      ...['lint', 'typecheck', 'check:package', 'docs'].map((check) => `run ${check}`),
      'run --silent projects',
      'run --silent site',
    ]);
    expect(last).toBe('11 passed, 0 failed, 3 skipped');
    expect(status).toBe(0);
  });

  it.each([
    'ci',
    'test',
    ...suites.map((suite) => `run test:${suite}`),
    'run lint',
    'run typecheck',
  ])('fails at once if `npm %s` fails', (words) => {
    const { status, last, calls } = runGate({ [words]: { code: 3 } });
    expect(calls.at(-1)).toBe(words);
    expect(status).toBe(3);
    expect(last).toBe('0 passed, 1 failed, 0 skipped');
  });

  it('counts the failed tests of the suite that stopped it', () => {
    const { status, last } = runGate({
      test: { code: 1, prints: '8 passed, 2 failed, 1 skipped' },
    });
    expect(last).toBe('8 passed, 2 failed, 1 skipped');
    expect(status).toBe(1);
  });

  it('has a script for each heavy suite', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    }; // as: npm's format
    expect(Object.keys(scripts).filter((name) => name.startsWith('test:'))).toEqual(
      expect.arrayContaining(suites.map((suite) => `test:${suite}`)),
    );
  });
});
