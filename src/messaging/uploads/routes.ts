import type { FileInput } from '../../core/values.js';
import { of, route, type UploadFacts } from '../../core/route.js';
import { multipartBody } from '../../core/upload.js';
import type { UploadedImage } from './types.js';

// The field's name is ours; the document has no maximum size.
const image: UploadFacts = {
  form: multipartBody,
  field: 'image',
  contentType: 'application/octet-stream',
  filename: 'image',
};

export const routes = {
  image: route('POST /uploads/image', {
    body: of<FileInput>(),
    returns: of<UploadedImage>(),
    upload: image,
  }),
};
