import type { OpenRecord } from '../../core/values.js';

/** An image with its public URL. The service does not document its fields. */
export interface UploadedImage extends OpenRecord {}
