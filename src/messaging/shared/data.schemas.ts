import * as z from 'zod/mini';
import type { DataOptions } from '../../core/types.js';
import type { Notice } from '../../core/call/route.js';
import { isRecord } from '../../core/values.js';
import {
  dateTextProblem,
  isReserved,
  isTransient,
  reservedKeys,
  type ContactData,
} from './data.js';

/** The options of a client for `data`. */
export interface DataRules extends DataOptions {
  /** The fields whose dates were reported. One `warning` per field is enough: its first value fixes its type. */
  readonly reportedDates?: Set<string>;
}

/** One field of `data` that will have no effect, with the option that decides what happens then. */
interface IneffectiveField {
  readonly field: string;
  readonly message: string;
  readonly mode: 'warn' | 'throw' | 'delete' | 'send';
}

/** `data` of a contact, an email or an event. */
export const contactData = z.custom<ContactData>(isRecord, 'must be an object');

/** Returns a warning for each field of `data` that will have no effect, or an error if the option is `throw`. */
export function dataWarnings(
  data: object | null | undefined,
  rules: DataRules = {},
): readonly Notice[] {
  const idle = findIneffective(data ?? {}, rules).flatMap(({ field, message, mode }): Notice[] => {
    if (mode === 'throw') {
      return [{ field, message }];
    }
    return mode === 'warn' ? [`\`${field}\` ${message}.`] : [];
  });
  return [...idle, ...dateWarnings(data ?? {}, rules)];
}

/** Returns a warning for each field with a date that the service would store as text, once per client. */
function dateWarnings(data: object, { reportedDates }: DataRules): readonly string[] {
  return Object.entries(data).flatMap(([key, value]) => {
    const problem = reportedDates?.has(key) ? undefined : dateTextProblem(value);
    if (problem === undefined) {
      return [];
    }
    reportedDates?.add(key);
    return [`\`data.${key}\` ${problem}`];
  });
}

/** As `dataWarnings()`, for `data` that is stored on a contact: there `transient()` has no effect. */
export function storedDataWarnings(
  data: object | null | undefined,
  rules?: DataOptions,
): readonly Notice[] {
  const transient = Object.entries(data ?? {}).filter(([, value]) => isTransient(value));
  const warnings = transient.map(
    ([key]) => `\`data.${key}\` is transient: it is not stored on the contact and has no effect.`,
  );
  return [...warnings, ...dataWarnings(data, rules)];
}

function findIneffective(data: object, rules: DataOptions): readonly IneffectiveField[] {
  return Object.entries(data).flatMap(([key, value]) => {
    const field = `data.${key}`;
    if (isReserved(key) && value !== undefined) {
      const message = `is a reserved key, which the service drops: ${reservedKeys[key]}`;
      return [{ field, message, mode: rules.reserved ?? 'warn' }];
    }
    if (value !== '') {
      return [];
    }
    const message = 'is an empty string, which the service ignores; use null to delete the field';
    return [{ field, message, mode: rules.emptyString ?? 'warn' }];
  });
}
