import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleScript } from '../support/node/bundled.js';
import { findRuntime, newest } from '../support/runtimes/runtimes.js';

const program = `
  import { open } from 'node:fs/promises';
  import { MediaFile } from 'postreel';
  import { fileJournal, fileRateBudgetStore, saveTo } from 'postreel/node';
  const warnings = [];
  process.on('warning', ({ name, message }) => name === 'PostreelWarning' && warnings.push(message));
  const at = process.argv[2];
  const journal = fileJournal(at + '/jobs.jsonl');
  const large = 'x'.repeat(1_200_000);
  await journal.swap('a', undefined, '1');
  await journal.swap('large', undefined, large);
  await journal.swap('large', large, undefined); // is followed by a compaction
  await fileRateBudgetStore(at + '/budget.json').close('group', 1_000);
  const headers = { 'content-type': 'audio/mpeg' };
  const fetch = () => Promise.resolve(new Response('Good morning', { headers }));
  await saveTo(new MediaFile('file_1', 'https://cdn.test/file_1.mp3', { fetch }), at + '/speech.mp3');
  const handle = await open(at + '/jobs.jsonl', 'r+');
  const isForbidden = await handle.sync().then(() => false, () => true);
  await handle.close();
  process.on('exit', () => console.log(JSON.stringify({ warnings, isForbidden })));
  console.log(JSON.stringify({ a: (await journal.get('a')).value }));`;

interface Ending {
  readonly warnings: readonly string[];
  readonly isForbidden: boolean;
}

describe('the functions of `postreel/node` under --permission', () => {
  let folder = '';
  let built: Awaited<ReturnType<typeof bundleScript>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'postreel-permission-'));
    await writeFile(join(folder, 'program.ts'), program);
    built = await bundleScript(join(folder, 'program.ts'));
  });
  afterAll(async () => {
    await built.remove();
    await rm(folder, { recursive: true });
  });

  const versions = newest.filter(({ name }) => name === 'Node');
  it.each(versions)('write their files on Node $version', async (version) => {
    const runtime = await findRuntime(version);
    if ('missing' in runtime) {
      console.log(`Node ${version.version} is not here: ${runtime.missing}`);
      return;
    }
    const data = join(folder, version.version);
    await mkdir(data);
    const rights = [
      ...['--permission', `--allow-fs-read=${built.folder}`],
      ...[`--allow-fs-read=${data}`, `--allow-fs-write=${data}`],
    ];
    const { stdout } = await promisify(execFile)(runtime.command, [...rights, built.path, data]);
    const [value = '', end = ''] = stdout.trim().split('\n');
    expect(JSON.parse(value)).toEqual({ a: '1' });
    // Some versions allow `fsync`: then there is no warning.
    const { warnings, isForbidden } = JSON.parse(end) as Ending;
    expect(warnings).toHaveLength(isForbidden ? 1 : 0);
    expect(warnings.filter((text) => !text.includes('a power failure may lose'))).toEqual([]);
    expect((await readdir(data)).sort()).toEqual(['budget.json', 'jobs.jsonl', 'speech.mp3']);
  });
});
