const fullDate = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/** messaging, Custom fields 4: a full ISO 8601 string, with its time. */
export function isFullDate(value: unknown): value is string {
  return typeof value === 'string' && fullDate.test(value) && !Number.isNaN(Date.parse(value));
}

/** Only `days` is shown; the other units are a free choice. */
const units: Readonly<Record<string, number>> = {
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
};

/** The length of a unit such as `days`; without one, a day. */
export function unitMs(unit: unknown): number {
  if (unit === undefined || unit === null) {
    return units.days ?? Number.NaN;
  }
  return (typeof unit === 'string' ? units[unit] : undefined) ?? Number.NaN;
}
