import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { readOptions, text } from '../core/options.js';
import type { NamedFile } from '../core/values.js';

/**
 * Reads a CSV file for `contacts.import()`, which takes at most 5 MB. Rejects with the file system's
 * error when the file cannot be read, as do `imageFile()` and `attachment()`.
 * @example
 * const { jobId } = await messaging.contacts.import(await csvFile('people.csv'));
 */
export async function csvFile(path: string): Promise<NamedFile> {
  return { data: await readFile(path), filename: basename(path), contentType: 'text/csv' };
}

/**
 * Reads an image for `uploads.image()`, which finds its type by the name or the first bytes.
 * @example
 * const { url } = await messaging.uploads.image(await imageFile('logo.png'));
 */
export async function imageFile(path: string): Promise<NamedFile & { data: Uint8Array }> {
  return { data: await readFile(path), filename: basename(path) };
}

/**
 * Reads a file to send with an email. The name and type can be overridden.
 * @example
 * await messaging.send({ ...email, attachments: [await attachment('invoice.pdf')] });
 */
export async function attachment(path: string, fields?: AttachmentFields): Promise<AttachedFile> {
  const { filename = basename(path), contentType = typeOf(path) } = readOptions(
    fields,
    { filename: text, contentType: text },
    { name: '`attachment()`', example: "{ filename: 'invoice.pdf' }" },
  );
  return { filename, contentType, content: await readFile(path) };
}

/** Fields of an attachment that replace the file's name and type. */
export interface AttachmentFields {
  filename?: string | undefined;
  contentType?: string | undefined;
}

/** A file to send with an email. */
export interface AttachedFile {
  filename: string;
  contentType: string;
  content: Uint8Array;
}

function typeOf(path: string): string {
  return contentTypes[extname(path).toLowerCase()] ?? 'application/octet-stream';
}

// The types of common attachments; any other type can be given.
const contentTypes: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.ics': 'text/calendar',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
  '.webp': 'image/webp',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'application/xml',
  '.zip': 'application/zip',
};
