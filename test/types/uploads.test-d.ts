import type { MessagingClient, UploadedImage } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { Uploads } from 'postreel/messaging';

declare const messaging: MessagingClient;

it('resolves to an image with its address', () => {
  expectTypeOf<ReturnType<Uploads['image']>>().resolves.toEqualTypeOf<UploadedImage>();
});

it('takes a file in any form but a path', () => {
  void messaging.uploads.image(new Blob([]));
  void messaging.uploads.image(new Uint8Array());
  void messaging.uploads.image({ data: new ArrayBuffer(0), filename: 'logo.png' });
  // @ts-expect-error -- a path is not a file
  void messaging.uploads.image({ data: './logo.png' });
  // @ts-expect-error -- a promise is not a file
  void messaging.uploads.image({ data: Promise.resolve(new Uint8Array()) });
  // @ts-expect-error -- a promise is not a file
  void messaging.contacts.import({ data: Promise.resolve(new Uint8Array()) });
  // @ts-expect-error -- a path is not a file
  void messaging.uploads.image('logo.png');
});
