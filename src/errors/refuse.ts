import { InvalidRequestError, type FieldError } from './index.js';

/** The error for a call that our own checks refuse: it names the field and the rule. */
export function refuse(
  fieldErrors: readonly FieldError[],
  where: { method?: string; path?: string } = {},
): InvalidRequestError {
  const [first] = fieldErrors;
  const more = fieldErrors.length > 1 ? ` (and ${fieldErrors.length - 1} more)` : '';
  // A rule that speaks for the whole call, e.g. "`contacts.lookup()` takes …", stands alone.
  const sentence = first === undefined ? 'it is not valid' : describe(first);
  const line =
    where.method === undefined
      ? capitalised(sentence)
      : `${where.method} ${where.path ?? ''} was not sent: ${sentence}`;
  return new InvalidRequestError(`${line}${more}.`, {
    code: 'INVALID_REQUEST',
    outcome: 'not-sent',
    fieldErrors,
    ...where,
  });
}

function describe({ field, message }: FieldError): string {
  return field === '' ? message : `\`${field}\` ${message}`;
}

function capitalised(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
