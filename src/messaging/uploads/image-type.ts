import { isBytes, type FileInput, type NamedFile } from '../../core/values.js';

const byExtension: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  svg: 'image/svg+xml',
  webp: 'image/webp',
};

// The first bytes of each format, as latin text; a dot stands for any byte.
const signatures: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/s, 'image/png'],
  [/^\xff\xd8\xff/s, 'image/jpeg'],
  [/^GIF8[79]a/s, 'image/gif'],
  [/^RIFF....WEBP/s, 'image/webp'],
  [/^....ftypavi[fs]/s, 'image/avif'],
  [/^\s*(<\?xml[^>]*>\s*)?<svg[\s>]/s, 'image/svg+xml'],
];

/** Gives an image without a content type the one that its name or its first bytes show. */
export function withImageType(file: FileInput): FileInput {
  const named = isNamed(file) ? file : { data: file };
  const { data, contentType, filename = nameOf(data) } = named;
  if (contentType !== undefined || (data instanceof Blob && data.type !== '')) {
    return file;
  }
  const type = typeOfName(filename) ?? typeOfBytes(data);
  return type === undefined ? file : { ...named, filename, contentType: type };
}

function isNamed(file: FileInput): file is NamedFile {
  return typeof file === 'object' && (file as unknown) !== null && 'data' in file;
}

function nameOf(data: unknown): string | undefined {
  return typeof File !== 'undefined' && data instanceof File ? data.name : undefined;
}

function typeOfName(filename: string | undefined): string | undefined {
  const extension = /\.(\w+)$/.exec(filename ?? '')?.[1]?.toLowerCase();
  return extension === undefined ? undefined : byExtension[extension];
}

function typeOfBytes(data: NamedFile['data']): string | undefined {
  const start = textOf(data);
  return signatures.find(([form]) => form.test(start))?.[1];
}

function textOf(data: NamedFile['data']): string {
  if (typeof data === 'string') {
    return data.slice(0, 256);
  }
  if (!isBytes(data)) {
    return ''; // a Blob can only be read later
  }
  return latin(ArrayBuffer.isView(data) ? data : new Uint8Array(data));
}

function latin(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 256));
}
