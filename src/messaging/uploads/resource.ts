import type { Call, RequestOptions } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { FileInput } from '../../core/values.js';
import type { Transport } from '../../core/send.js';
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
