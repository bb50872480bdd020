/** A number that a store answered; a driver may be set to read numbers as text or as bigint. */
export function storedNumber(value: unknown): number {
  const isOther = typeof value === 'bigint' || (typeof value === 'string' && value.trim() !== '');
  const number = isOther ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) {
    return number;
  }
  throw new Error(`it answered something else where a number belongs: ${typeof value}`);
}
