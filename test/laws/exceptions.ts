import { expect } from 'vitest';

/** One thing that a law holds for. */
export interface Subject {
  /** Found once in its law, e.g. `messaging.contacts.deleteAll(ids)`. */
  readonly name: string;
  /** Throws, or rejects, where the law is broken. */
  readonly check: () => unknown;
}

/**
 * Subjects that do not hold yet, under the finding (`M1`, `Q5`) whose owner mends them. Once one of
 * them holds, the law fails until it is taken off this list.
 */
export type Exceptions = Readonly<Record<string, readonly string[]>>;

/** Checks every subject, reports all that fail at once, and prints how many were tried. */
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
  const excepted = findings.size === 0 ? '' : `, ${findings.size} of them excepted`;
  console.log(`${law}: ${subjects.length} subjects tried${excepted}`);
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
