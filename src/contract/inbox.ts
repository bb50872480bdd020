/** What a callback said of a finished file. */
export interface WebhookResult {
  readonly fileId: string;
  readonly status: 'success' | 'error';
  /** Where the file lies; `undefined` when its generation failed. */
  readonly url?: string | undefined;
  /** The callback's body as the service sent it. */
  readonly raw: unknown;
}

/** Where callbacks arrive: what a wait for a file needs of it. */
export interface Inbox {
  /** Resolves with the callback of a file, also when it has arrived before. */
  wait(fileId: string, options?: { signal?: AbortSignal | undefined }): Promise<WebhookResult>;
}
