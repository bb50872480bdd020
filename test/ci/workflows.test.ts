import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const folder = '.github/workflows';
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

describe('the workflows', () => {
  it.each(readdirSync(folder))(
    '%s name each action by a commit, with its tag next to it',
    (name) => {
      const actions = [...read(name).matchAll(/uses: (.+)$/gm)].map(([, action = '']) => action);
      expect(actions.length).toBeGreaterThan(0);
      expect(
        actions.filter((action) => !/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action)),
      ).toEqual([]);
    },
  );

  it('agree on the commit of an action', () => {
    const commits = readdirSync(folder).flatMap(
      (name) => read(name).match(/[\w/-]+@[0-9a-f]{40}/g) ?? [],
    );
    const names = new Set(commits.map((commit) => commit.split('@')[0]));
    expect(new Set(commits).size).toBe(names.size);
  });
});

describe('the release workflow', () => {
  const jobs = new Map(
    read('release.yml')
      .split(/^ {2}(?=\w+:\n {4}name:)/m)
      .slice(1)
      .map((text) => [text.slice(0, text.indexOf(':')), text]),
  );

  it('builds without permission to write or sign', () => {
    const build = jobs.get('build');
    expect(build).toContain('npm ci --ignore-scripts');
    expect(build).toContain('contents: read');
    expect(build).not.toContain(': write');
  });

  it.each(['publish', 'announce'])(
    'has no sources and installs no package in the job %s',
    (name) => {
      const job = jobs.get(name);
      expect(job).toContain('actions/download-artifact@');
      expect(job).toContain(': write');
      expect(job).not.toMatch(/actions\/checkout|npm (ci|install|run|pack)|npx/);
    },
  );

  it('publishes after the tests and the build', () => {
    expect(jobs.get('publish')).toContain('needs: [test, build]');
    expect([...jobs.keys()]).toEqual(['test', 'build', 'publish', 'announce']);
  });
});
