import { expect } from 'vitest';

/** One case of a law. */
export interface Subject {
  /** The name of the case, unique within its law, e.g. `messaging.contacts.deleteAll(ids)`. */
  readonly name: string;
  /** Throws or rejects if this case breaks the law. */
  readonly check: () => unknown;
}

/**
 * Subjects that break a law today, grouped by the finding (`M1`, `Q5`) that will fix them. Once a
 * listed subject passes, the law fails until the subject is removed from this list.
 */
export type Exceptions = Readonly<Record<string, readonly string[]>>;

/**
 * Checks every subject, and reports all failures at once.
 */
export async function holdLaw(
  law: string,
  subjects: readonly Subject[],
  exceptions: Exceptions = {},
): Promise<void> {
  const findings = new Map<string, string>();
  for (const [finding, names] of Object.entries(exceptions)) {
    for (const name of names) {
      findings.set(name, finding);
    }
  }
  const names = new Set(subjects.map(({ name }) => name));
  expect(names.size, 'subjects have different names').toBe(subjects.length);
  const broken: string[] = [...findings]
    .filter(([name]) => !names.has(name))
    .map(([name, finding]) => `${name}: excepted for ${finding}, but there is no such subject`);
  for (const { name, check } of subjects) {
    const failure = await failureOf(check);
    const finding = findings.get(name);
    if (finding === undefined && failure !== undefined) {
      broken.push(`${name}: ${failure}`);
    }
    if (finding !== undefined && failure === undefined) {
      broken.push(`${name}: holds now, so take it off the exceptions for ${finding}`);
    }
  }
  expect(broken, law).toEqual([]);
}

async function failureOf(check: () => unknown): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (failure) {
    return failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure);
  }
}
