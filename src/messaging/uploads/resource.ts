import type { Call, RequestOptions } from '../../contract/call.js';
import type { MethodsFor } from '../../contract/methods.js';
import { isBytes, type FileInput, type NamedFile } from '../../contract/records.js';
import type { Transport } from '../../transport/transport.js';
import { loadRare } from '../shared/rarely.js';
import { routes } from './routes.js';
import type { UploadedImage } from './types.js';

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
  image(file: FileInput, options?: RequestOptions): Call<UploadedImage> {
    const body = copied(file);
    const bodyLater = async () => (await loadRare()).withImageType(body);
    return this.#transport.send(routes.image, { body, bodyLater }, options);
  }
}

// What is sent are the bytes of this moment, whatever the caller changes while a part loads.
function copied(file: FileInput): FileInput {
  if (isBytes(file)) {
    const view = ArrayBuffer.isView(file);
    return view
      ? new Uint8Array(file.buffer, file.byteOffset, file.byteLength).slice()
      : file.slice();
  }
  const data = (file as Partial<NamedFile> | null | undefined)?.data; // plain JavaScript gives anything
  return isBytes(data) ? { ...(file as NamedFile), data: copied(data) as Uint8Array } : file; // bytes stay bytes
}
