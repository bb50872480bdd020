import type { FakeAnswer, FakeRequest, Handlers } from '../core/types.js';
import { Refusal } from '../core/http.js';
import type { Scope } from './state.js';
import { invalidField } from './resource.js';

export const handlers: Handlers<Scope> = {
  'POST /uploads/image': uploadImage,
};

/** messaging, Uploads: returns a public URL; which images are taken is not shown. */
async function uploadImage(request: FakeRequest, { world, project }: Scope): Promise<FakeAnswer> {
  const { name, file } = firstFile(request, 'image');
  if (!file.type.startsWith('image/')) {
    throw invalidField(name, 'The file must be an image.', 'invalid_type');
  }
  const id = world.id('img');
  const url = `https://images.messaging.fake/${id}/${encodeURIComponent(file.name)}`;
  const bytes = new Uint8Array(await file.arrayBuffer());
  project.uploads.set(id, { id, filename: file.name, contentType: file.type, bytes, url });
  return { body: { url } };
}

/** The first file of a multipart body; the name of its field is not shown, so that any will do. */
export function firstFile(request: FakeRequest, usualName: string): { name: string; file: File } {
  if (request.form === undefined) {
    throw new Refusal(400, 'BAD_REQUEST', 'The body must be multipart/form-data.');
  }
  for (const [name, part] of request.form) {
    if (typeof part !== 'string') {
      return { name, file: part };
    }
  }
  throw invalidField(usualName, 'is required.', 'required');
}
