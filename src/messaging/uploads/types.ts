import type { OpenRecord } from '../../contract/records.js';

/** An image with its public URL. The service's document does not show the fields. */
export interface UploadedImage extends OpenRecord {}
