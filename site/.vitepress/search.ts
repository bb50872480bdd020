/** How the search weighs what it finds: a title says more than the text, a path more than a word. */
export const searchOptions = {
  fuzzy: 0.1,
  prefix: true,
  boost: { title: 6, titles: 1, text: 2 },
  boostTerm: (term: string) => (/[/.]/.test(term) ? 6 : 1),
};

/**
 * Splits text into words, and keeps the names of methods and the paths of endpoints whole beside
 * them: `messaging.contacts.list`, `/contacts/{id}`. It is sent to the browser as text, so it may use
 * nothing from outside.
 */
export function tokenize(text: string): string[] {
  const words = text.split(/[\n\r\p{Z}\p{P}]+/u);
  const whole = text
    .split(/[\s,;·|]+/)
    .map((part) => part.replace(/\(.*$/, '').replace(/[.:]+$/, ''))
    .filter((part) => /^\/|\w\.\w/.test(part));
  const requests = [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE)\s+(\/\S*)/g)];
  return [...words, ...whole, ...requests.map(([, method, path]) => `${method} ${path}`)];
}
