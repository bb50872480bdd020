import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changedNames, missingNames, unreleased } from '../../scripts/release/changelog.js';
import { contactProblems } from '../../scripts/release/contact.js';
import { originOf } from '../../scripts/release/repository.js';
import { hashesOf } from '../../scripts/release/reproduce.js';
import { problemsOf, type Tarball } from '../../scripts/release/tarball.js';
import { stubFolders } from '../../scripts/stubs.js';
import { emptyFolder } from '../support/empty-folder.js';

const good: Tarball = {
  paths: [
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'package.json',
    'dist/cli.js',
    'dist/LICENSES.txt',
    'docs/recipes/cron.md',
    'docs/images/fake.png',
    'docs/trace.svg',
    'examples/01-send.ts',
    'examples/tracker-page/index.html',
    'dist/openapi.json',
    ...stubFolders().map((folder) => `${folder}/package.json`),
  ],
  manifest: { license: 'MIT', bin: { postreel: './dist/cli.js' }, dependencies: { ky: '^1' } },
};

describe('a tarball', () => {
  it('passes with the expected files', () => {
    expect(problemsOf(good)).toEqual([]);
  });

  it.each<[string, Partial<Tarball>, string]>([
    ['a secret', { paths: [...good.paths, 'dist/.env'] }, 'dist/.env must not be published.'],
    [
      'a key among the examples',
      { paths: [...good.paths, 'examples/.env'] },
      'examples/.env must not be published.',
    ],
    ['a stray file', { paths: [...good.paths, 'notes.txt'] }, 'notes.txt must not be published.'],
    ['a hole', { paths: good.paths.slice(1) }, 'LICENSE is missing.'],
    ['no stub', { paths: good.paths.slice(0, -1) }, 'bullmq/package.json is missing.'],
    [
      'an install script',
      { manifest: { ...good.manifest, scripts: { postinstall: 'node x.js' } } },
      'It runs a script: postinstall.',
    ],
    [
      'a new dependency',
      { manifest: { ...good.manifest, dependencies: { commander: '^14' } } },
      'commander is a new dependency.',
    ],
    [
      'another license',
      { manifest: { ...good.manifest, license: 'GPL' } },
      'The license is not MIT.',
    ],
  ])('is rejected with %s', (_name, change, problem) => {
    expect(problemsOf({ ...good, ...change })).toEqual([problem]);
  });
});

describe('the repository of a release', () => {
  it("is the repository of the workflow, so that the README's links work", () => {
    const variables = {
      GITHUB_SERVER_URL: 'https://git.example',
      GITHUB_REPOSITORY: 'us/postreel',
    };
    expect(originOf(variables)).toEqual({
      repository: { type: 'git', url: 'git+https://git.example/us/postreel.git' },
      homepage: 'https://git.example/us/postreel#readme',
      bugs: 'https://git.example/us/postreel/issues',
    });
  });

  it('is left out outside a workflow', () => {
    expect(originOf({})).toBeUndefined();
  });
});

describe('the security contact', () => {
  const page = (contact: string) =>
    `# Security\n\nSECURITY_CONTACT = \`${contact}\`\n\nWrite to it.\n`;

  it('is in SECURITY.md in the form that the release script expects', () => {
    const text = readFileSync('SECURITY.md', 'utf8');
    expect(text).toMatch(/^SECURITY_CONTACT = `.+`$/m);
    const named = text.replace(/^(SECURITY_CONTACT = `).+`$/m, '$1security@example.com`');
    expect(contactProblems(named)).toEqual([]);
  });

  it.each(['security@example.com', 'https://example.com/report'])('may be %s', (contact) => {
    expect(contactProblems(page(contact))).toEqual([]);
  });

  it.each(['security contact not yet published', '', 'TODO', 'http://example.com', 'a@b'])(
    'stops a release while it is "%s"',
    (contact) => {
      const problem = expect.stringContaining('SECURITY.md names no contact') as string;
      expect(contactProblems(page(contact))).toEqual([problem]);
    },
  );

  it('stops a release if it is missing', () => {
    expect(contactProblems('# Security\n')).toHaveLength(1);
  });
});

describe('the changelog', () => {
  it('is compared with the added and removed public names', () => {
    const list = (values: string[], types: string[]) =>
      JSON.stringify({ postreel: { values, types } });
    const changed = changedNames(list(['kept', 'gone'], ['Old']), list(['kept', 'fresh'], []));
    expect(changed).toEqual(['Old', 'fresh', 'gone']);
    expect(missingNames(changed, 'Adds `fresh`, removes `gone`.')).toEqual(['Old']);
  });

  it('is read up to the previous release', () => {
    const text = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- One.\n\n## [0.1.0]\n\n- Old.\n';
    expect(unreleased(text)).toBe('### Added\n\n- One.');
    expect(unreleased('## [Unreleased]\n\n- Last.\n')).toBe('- Last.');
    expect(unreleased('# Changelog\n')).toBe('');
  });
});

it('two builds are compared file by file', () => {
  const folder = emptyFolder();
  mkdirSync(join(folder, 'deep'));
  writeFileSync(join(folder, 'deep', 'a.js'), 'one');
  const first = hashesOf(folder);
  expect([...first.keys()]).toEqual([join('deep', 'a.js')]);
  writeFileSync(join(folder, 'deep', 'a.js'), 'two');
  expect(hashesOf(folder)).not.toEqual(first);
});
