import type { MessagingClient } from 'postreel/messaging';
import type { Fact } from '../plans.js';
import { inline, quoted } from '../text.js';

/** The subject, sender and body of a template, as they stand at the service now. */
export async function templateFacts(
  id: string,
  { templates }: MessagingClient,
  signal: AbortSignal,
  label: string,
): Promise<Fact[]> {
  const { body, ...others } = await templates.get(id, { signal });
  return [{ label, text: inline(others) }, bodyFact(`${label} body`, body)];
}

/** The whole text: nothing is sent that a person could not read before. */
export function bodyFact(label: string, body: unknown): Fact {
  return { label, text: quoted(typeof body === 'string' ? body : inline(body)) };
}

/** A text with variables, and the values that are given for them. */
export interface Text {
  readonly texts: readonly unknown[];
  readonly data?: unknown;
}

/** What the service fills in for each contact, and a plan cannot show. */
export function variableFacts({ templates }: MessagingClient, { texts, data }: Text): Fact[] {
  const given = typeof data === 'object' && data !== null ? data : {};
  const found = texts.flatMap((text) =>
    typeof text === 'string' ? templates.variables(text) : [],
  );
  const open = [
    ...found
      .flatMap(({ variables }) => variables.map(({ path }) => path))
      .filter((path) => !Object.hasOwn(given, path.split('.')[0] ?? '')),
    ...found.flatMap(({ notUnderstood }) => notUnderstood),
  ].map(inline);
  const names = [...new Set(open)].join(', ');
  const text = `${names}, from the fields of each contact, which strangers may have written`;
  return names === '' ? [] : [{ label: 'filled in', text }];
}

/** The same where the contacts are known: with their fields. */
export async function filledFacts(
  messaging: MessagingClient,
  emails: readonly string[],
  text: Text,
  signal: AbortSignal,
): Promise<Fact[]> {
  const facts = variableFacts(messaging, text);
  if (facts.length === 0) {
    return [];
  }
  const fields = await Promise.all(
    emails.map(async (email) => {
      const contact = await messaging.contacts.findByEmail(email, { signal });
      return inline({ email, fields: contact?.data ?? 'none yet' });
    }),
  );
  return [...facts, { label: 'fields', text: fields.join('\n') }];
}
