import {
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConnectionError, MediaFile } from 'postreel';
import { saveTo } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PartFile } from '../../src/node/download/part-file.js';
import { nameOf, pidScope } from '../../src/node/pid-scope.js';

let folder = '';
let path = '';
const here = pidScope();
const elsewhere = nameOf({ hostname: 'worker', bootId: 'other', pidNamespace: 'pid:[1]' });
// Far above any process number: such a process is never alive.
const deadPid = 2 ** 30;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-part-'));
  path = join(folder, 'speech.mp3');
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const facts = { version: '"a"', totalBytes: 12 };

/** Writes the part of another process, under the name that it has while that process fills it. */
async function writePartOf(owner: string, text: string, { ageMs = 0, totalBytes = 12 } = {}) {
  const own = await PartFile.open('file_1', path);
  const name = own.path.replace(/[0-9a-f]{16}-\d+-[^-]+(-[^-]+){4}\.part$/, `${owner}-x.part`);
  await own.remove();
  await writeFile(name, text);
  await writeFile(`${name}.json`, JSON.stringify({ ...facts, totalBytes }));
  const at = new Date(Date.now() - ageMs);
  await utimes(name, at, at);
}

/** Returns the part that a new download of the same file would continue. */
async function findPart() {
  const part = await PartFile.open('file_1', path);
  const text = await readFile(part.path, 'utf8');
  const { earlier } = part;
  await part.remove();
  return { bytes: earlier?.bytes, text, others: await readdir(folder) };
}

describe('the part of an earlier download', () => {
  it.each([
    ['it gave up', 'left', 0],
    ['its process is dead', `${here}-${deadPid}`, 0],
    ['no byte came for a quarter of an hour, on any machine', `${elsewhere}-${deadPid}`, 901_000],
  ])('is continued, except for its last byte, if %s', async (_, owner, ageMs) => {
    await writePartOf(owner, 'Good', { ageMs });
    expect(await findPart()).toEqual({ bytes: 3, text: 'Good', others: [] });
  });

  it.each([
    ['a running process', `${here}-${process.ppid}`],
    ['another machine or container', `${elsewhere}-${deadPid}`],
  ])('is left to %s', async (_, owner) => {
    await writePartOf(owner, 'Good');
    const { bytes, others } = await findPart();
    expect(bytes).toBeUndefined();
    expect(others).toHaveLength(2);
  });

  it('is deleted if it is longer than its file', async () => {
    await writePartOf('left', 'Good morning!');
    expect(await findPart()).toEqual({ bytes: undefined, text: '', others: [] });
  });

  it('may be the whole file', async () => {
    await writePartOf('left', 'Good morning');
    expect(await findPart()).toMatchObject({ bytes: 11 });
  });
});

describe('a part of a file', () => {
  it('is written in as many steps as the disk takes', async () => {
    const part = await PartFile.open('file_1', path);
    const handle = await open(part.path);
    const methods = Object.getPrototypeOf(handle) as FileHandle; // shared by all handles
    await handle.close();
    const write = Reflect.get(methods, 'write') as (...values: unknown[]) => Promise<never>; // as: `write` takes any arguments
    const slow = vi.spyOn(methods, 'write').mockImplementation(function (
      this: FileHandle,
      ...[bytes, offset, length, position]: unknown[]
    ) {
      return write.call(this, bytes, offset, Math.min(5, length as number), position);
    });
    await part.write(new TextEncoder().encode('Good morning'), 0);
    await part.finish(path);
    expect(slow).toHaveBeenCalledTimes(3);
    expect(await readFile(path, 'utf8')).toBe('Good morning');
  });

  it('is removed by an abort with any reason', async () => {
    const controller = new AbortController();
    const reason = new ConnectionError('The worker stops.', { code: 'STOP', outcome: 'unknown' });
    const headers = { 'content-type': 'audio/mpeg', 'content-length': '12', etag: '"a"' };
    const fetch = () => Promise.resolve(new Response('Good', { headers }));
    const file = new MediaFile('file_1', 'https://cdn.test/file_1.mp3', { fetch });
    const onProgress = () => controller.abort(reason);
    const saving = saveTo(file, path, { signal: controller.signal, onProgress });
    await expect(saving).rejects.toBe(reason);
    expect(await readdir(folder)).toEqual([]);
  });
});
