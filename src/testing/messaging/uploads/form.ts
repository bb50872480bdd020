import { Refusal } from '../../core/http/refusal.js';
import type { FakeRequest } from '../../core/types.js';
import { invalidField } from '../validate.js';

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
  throw invalidField(usualName, `\`${usualName}\` is required.`, 'required');
}
