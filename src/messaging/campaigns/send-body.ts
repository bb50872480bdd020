const noFields = /^(Array|BigInt|Boolean|Date|Function|Map|Number|Promise|RegExp|Set|String)$/;

/** Is this an object of fields? A date has none: its body would send the campaign to everybody now. */
export function isFields(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !noFields.test(kindOf(value));
}

/** Is this a time to schedule for? Nothing at all would send to everybody now. */
export function isTime(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || kindOf(value) === 'Date';
}

/** What a value is, by its mark: in test runners and frames the classes are others. */
export function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
