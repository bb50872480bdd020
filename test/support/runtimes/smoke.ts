import type * as Postreel from 'postreel';

/** The addresses of the fakes, and one without a server. */
export interface Services {
  readonly messagingUrl: string;
  readonly messagingKey: string;
  readonly mediaUrl: string;
  readonly mediaKey: string;
  readonly unusedUrl: string;
}

/** The results, as words and numbers that are equal in every runtime. */
export type Report = Readonly<Record<string, unknown>>;

/**
 * Makes one call of each kind over real connections. The function uses nothing from outside: each
 * runtime gets its source as text, with its import of the package. `expected.ts` holds the expected
 * report.
 */
export async function smoke(postreel: typeof Postreel, services: Services): Promise<Report> {
  const { ApiError, ConnectionError, InvalidRequestError, NotFoundError } = postreel;
  const messaging = new postreel.MessagingClient({
    apiKey: services.messagingKey,
    baseUrl: services.messagingUrl,
  });
  const media = new postreel.MediaClient({ apiKey: services.mediaKey, baseUrl: services.mediaUrl });
  const retried = new Set<string>();
  messaging.on('retry', ({ method, path }) => retried.add(`${method} ${path}`));
  const mail = {
    from: 'shop@example.com',
    to: 'ann@example.com',
    subject: 'Your order',
    body: '<p>On its way</p>',
  };
  const failure = (error: unknown): unknown =>
    postreel.isPostreelError(error)
      ? [error.name, error.status, error.outcome, error instanceof ApiError]
      : error;

  const sent = await messaging.send(mail);
  const emails: string[] = [];
  for await (const contact of messaging.contacts.list({ limit: 2 })) {
    emails.push(contact.email);
  }
  const job = await messaging.contacts.import({
    data: 'email\neve@example.com\n',
    filename: 'a.csv',
  });

  const after503 = await messaging.templates.list();
  const afterDrop = await messaging.segments.list();
  const after429 = await messaging.verify({ email: 'ann@example.com' });

  const missing: unknown = await messaging.contacts.get('nobody').catch((error: unknown) => error);
  const lost: unknown = await messaging.send(mail).catch((error: unknown) => error);
  await messaging.config.get(); // so that the next call uses this connection
  const lostToo: unknown = await messaging.campaigns
    .duplicate('nobody')
    .catch((error: unknown) => error);
  const refused: unknown = await new postreel.MessagingClient({
    apiKey: services.messagingKey,
    baseUrl: services.unusedUrl,
    retries: 0,
  })
    .send(mail)
    .catch((error: unknown) => error);
  const invalid: unknown = await messaging
    .send({ ...mail, subject: 'Two\nlines' })
    .catch((error: unknown) => error);

  const controller = new AbortController();
  messaging.once('request', () => controller.abort('enough'));
  const aborted: unknown = await messaging.workflows
    .list({}, { signal: controller.signal })
    .then(undefined, (reason: unknown) => reason);

  const { fileId } = await media.generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
  const file = await media.waitForFile(fileId, { interval: 20 });
  const { byteLength } = await file.arrayBuffer();

  return {
    sent: Object.keys(sent).length > 0,
    emails: emails.length,
    job: typeof job.jobId,
    lists: [after503.items.length, afterDrop.items.length],
    verified: Object.keys(after429).length > 0,
    retried: [...retried],
    missing: [failure(missing), missing instanceof NotFoundError],
    lost: [failure(lost), lost instanceof ConnectionError],
    lostToo: failure(lostToo),
    refused: [failure(refused), refused instanceof ConnectionError],
    invalid: [failure(invalid), invalid instanceof InvalidRequestError],
    aborted,
    byteLength,
  };
}
