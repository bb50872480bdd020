import { signWebhookUrl } from 'postreel/webhooks';

export const secret = 'a secret of the tests, 32 letters';
export const base = 'https://shop.example/media-done';

export const fileUrl = 'https://cdn.example/file_1.mp3';
export const successBody = (id = 'file_1') => ({ success: true, data: { id, file: fileUrl } });
export const failureBody = (id = 'file_1') => ({ success: false, data: { id } });

/** A new address, signed with the secret of the tests. */
export const signAddress = (url: string = base) => signWebhookUrl(url, { secret });

/** The request that the service sends. */
export function callbackRequest(url: string, body: unknown = successBody()): Request {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text,
  });
}

/** Returns a copy of an address with one change. */
export function alterUrl(url: string, change: (url: URL) => void): string {
  const copy = new URL(url);
  change(copy);
  return copy.href;
}
