const shapes = /\b(sk|pk)_[A-Za-z0-9_-]{3,}/g;
const bearer = /\bBearer\s+[^\s"',;]+/gi;

/** Takes every API key out of a text that somebody else wrote, such as an error body. */
export function redact(text: string, key: string | null): string {
  const known = key === null || key.length < 4 ? text : text.replaceAll(key, '[key]');
  return known.replace(bearer, 'Bearer [key]').replace(shapes, '$1_[key]');
}
