import { type FileInput, type OpenRecord, isBytes, type NamedFile } from '../core/values.js';
import { ofType, route, type UploadFacts, type MethodsFor } from '../core/call/route.js';
import { encodeFile } from '../core/call/upload.js';
import type { Call, RequestOptions } from '../core/types.js';
import type { Transport } from '../core/call/send.js';

// The service documents neither the name of the form field, which this package chose, nor a maximum size.
const image: UploadFacts = {
  form: encodeFile,
  field: 'image',
  contentType: 'application/octet-stream',
  filename: 'image',
};

export const routes = {
  image: route('POST /uploads/image', {
    body: ofType<ImageInput>(),
    returns: ofType<UploadedImage>(),
    upload: image,
  }),
};

/** An image to upload. Its content cannot be a string: a path would be stored in place of the image. */
export type ImageInput =
  Exclude<FileInput, NamedFile> | (NamedFile & { data: Exclude<NamedFile['data'], string> });

/** An image with its public URL. The service does not document its fields. */
export interface UploadedImage extends OpenRecord {}

/**
 * Images for the bodies of templates.
 * @example
 * const data = await readFile('logo.png');
 * await messaging.uploads.image({ data, filename: 'logo.png', contentType: 'image/png' });
 */
export class Uploads implements MethodsFor<typeof routes> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Uploads an image and returns its public URL. Takes a `File`, a `Blob`, bytes, or
   * `{ data, filename, contentType }`. Without a content type, the file's name or its first bytes
   * decide; only a bare `Blob` cannot be recognized.
   */
  image(file: ImageInput, options?: RequestOptions): Call<UploadedImage> {
    return this.#transport.send(routes.image, { body: addImageType(file) }, options);
  }
}

const byExtension: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  svg: 'image/svg+xml',
  webp: 'image/webp',
};

const svgText = /^\s*(<\?xml[^>]*>\s*)?<svg[\s>]/s;

// The first bytes of each format, as Latin-1 text. A dot matches any byte.
const signatures: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/s, 'image/png'],
  [/^\xff\xd8\xff/s, 'image/jpeg'],
  [/^GIF8[79]a/s, 'image/gif'],
  [/^RIFF....WEBP/s, 'image/webp'],
  [/^....ftypavi[fs]/s, 'image/avif'],
  [svgText, 'image/svg+xml'],
];

/** Sets the content type of an image that has none, by the file's name or its first bytes. */
function addImageType(given: FileInput): ImageInput {
  const file = isNamed(given) ? convertSvgText(given) : given;
  const named: NamedFile = isNamed(file) ? file : { data: file };
  const { data, contentType, filename = nameOf(data) } = named;
  const isTyped = contentType !== undefined || (data instanceof Blob && data.type !== '');
  const type = isTyped ? undefined : (typeOfName(filename) ?? typeOfBytes(data));
  const image = type === undefined ? file : { ...named, filename, contentType: type };
  return image as ImageInput; // the call rejects a string when its request body is built
}

/** Converts the text of an SVG to a `Blob`. Any other text is rejected later, because it is most likely a path. */
function convertSvgText(file: NamedFile): NamedFile {
  const { data } = file;
  return typeof data === 'string' && svgText.test(data)
    ? { ...file, data: new Blob([data], { type: 'image/svg+xml' }) }
    : file;
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
  if (!isBytes(data)) {
    return ''; // a `Blob` can only be read asynchronously
  }
  return decodeLatin1(ArrayBuffer.isView(data) ? data : new Uint8Array(data));
}

function decodeLatin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 256));
}
