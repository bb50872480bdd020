/** The query parameter that marks an address as signed for a single callback. */
export const signatureParameter = 'postreel_signature';

/** The result that a callback brought for a file. */
export interface WebhookResult {
  readonly fileId: string;
  readonly status: 'success' | 'error';
  /** Where to download the file; `undefined` when its generation failed. */
  readonly url?: string | undefined;
  /** The callback's body as the service sent it. */
  readonly raw: unknown;
}

/** Where callbacks arrive, as far as a wait for a file needs it. */
export interface Inbox {
  /** Resolves with the callback of a file, also when it has already arrived. */
  wait(fileId: string, options?: { signal?: AbortSignal | undefined }): Promise<WebhookResult>;
}
