import type { Call, RequestOptions } from '../../contract/call.js';
import type { MethodsFor } from '../../contract/methods.js';
import type { FileInput } from '../../contract/records.js';
import type { Transport } from '../../transport/transport.js';
import { withImageType } from './image-type.js';
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
    return this.#transport.send(routes.image, { body: withImageType(file) }, options);
  }
}
