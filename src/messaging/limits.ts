/** The limits of the messaging service, as its document states them ("Limits"). */
export const limits = {
  /** API requests per minute per project. */
  requests: { limit: 1000, windowMs: 60_000 },
  /** Emails of one contact lookup. */
  lookupEmails: 500,
  /** Contact ids of one bulk call: subscribe, unsubscribe, delete. */
  bulkContacts: 1000,
  /** Bytes of a CSV import. */
  importBytes: 5 * 1024 * 1024,
  /** Characters of a subject, which must not contain a line break. */
  subjectLength: 998,
  /** Characters of the value of a custom header. */
  headerLength: 998,
  /** Attachments of one email. */
  attachments: 10,
  /** Bytes of a whole message. */
  messageBytes: 40 * 1024 * 1024,
} as const;
