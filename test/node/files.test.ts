import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attachment, csvFile, imageFile } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-csv-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('csvFile()', () => {
  it('reads a file for an import, under its name', async () => {
    const path = join(folder, 'people.csv');
    await writeFile(path, 'email\nann@example.com\n');
    const { fetch, requests } = answering(() => ({ jobId: 'job_1' }));
    await messagingOver(fetch).contacts.import(await csvFile(path));
    const file = (await requests[0]!.formData()).get('file') as File;
    expect([file.name, file.type]).toEqual(['people.csv', 'text/csv']);
    await expect(file.text()).resolves.toBe('email\nann@example.com\n');
  });

  it('rejects a file of more than 5 MB before it is sent', async () => {
    const path = join(folder, 'people.csv');
    await writeFile(path, 'x'.repeat(5 * 1024 * 1024 + 1));
    const { fetch, requests } = answering(() => ({ jobId: 'job_1' }));
    const call = messagingOver(fetch).contacts.import(await csvFile(path));
    await expect(call).rejects.toMatchObject({ fieldErrors: [{ field: 'file' }] });
    expect(requests).toEqual([]);
  });

  it('rejects a missing file with its path', async () => {
    await expect(csvFile(join(folder, 'none.csv'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('imageFile()', () => {
  it('reads an image and its name; the upload detects its type', async () => {
    const path = join(folder, 'logo.png');
    await writeFile(path, Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a));
    const { fetch, requests } = answering(() => ({ url: 'https://cdn.example/logo.png' }));
    await messagingOver(fetch).uploads.image(await imageFile(path));
    const file = (await requests[0]!.formData()).get('image') as File;
    expect([file.name, file.type]).toEqual(['logo.png', 'image/png']);
  });
});

describe('attachment()', () => {
  const mail = { from: 'a@b.co', to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' };

  it.each([
    ['invoice.pdf', {}, 'invoice.pdf', 'application/pdf'],
    ['LOGO.PNG', {}, 'LOGO.PNG', 'image/png'],
    ['data.unknown', {}, 'data.unknown', 'application/octet-stream'],
    ['x.tmp', { filename: 'b.txt', contentType: 'text/plain' }, 'b.txt', 'text/plain'],
  ])('reads %s to send with an email', async (name, fields, filename, contentType) => {
    const path = join(folder, name);
    await writeFile(path, 'hi');
    const { fetch, requests } = answering(() => ({ success: true, data: {} }));
    const attachments = [await attachment(path, fields)];
    await messagingOver(fetch).send({ ...mail, attachments });
    const body = (await requests[0]!.json()) as { attachments: unknown };
    expect(body.attachments).toEqual([{ filename, contentType, content: 'aGk=' }]);
  });

  it('rejects a missing file with its path', async () => {
    await expect(attachment(join(folder, 'none.pdf'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
