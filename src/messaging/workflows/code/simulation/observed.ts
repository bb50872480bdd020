/** An email that your service did send. */
export interface ObservedEmail {
  readonly email: string;
  readonly at: Date | string;
  /** The key of the step that sent it, where you know it. */
  readonly step?: string | undefined;
  /** Its subject, as the step has it; leave it out where a template fills it in. */
  readonly subject?: string | undefined;
}

/** An email that a simulation expects. */
interface ExpectedEmail {
  readonly email: string;
  readonly at: Date;
  readonly step: string;
  readonly subject: string | undefined;
}

// Services take a while to send, and round what they write down.
const toleranceMs = 60_000;

// More doubts at once explain everything, and so nothing.
const maxDoubts = 2;

/** Are these the emails that were sent? */
export function agreesWith(
  expected: readonly ExpectedEmail[],
  observed: readonly ObservedEmail[],
): boolean {
  const left = [...observed];
  for (const email of expected) {
    const index = left.findIndex((one) => isSame(email, one));
    if (index < 0) {
      return false;
    }
    left.splice(index, 1);
  }
  return left.length === 0;
}

/** The smallest sets of assumptions without which all is as it was observed. */
export function explanationsOf(
  assumptions: readonly string[],
  explains: (doubted: readonly string[]) => boolean,
): string[][] {
  for (let size = 1; size <= maxDoubts; size++) {
    const found = setsOf(assumptions, size).filter(explains);
    if (found.length > 0) {
      return found;
    }
  }
  return [];
}

function isSame(expected: ExpectedEmail, { email, at, step, subject }: ObservedEmail): boolean {
  return (
    expected.email === email &&
    Math.abs(expected.at.getTime() - new Date(at).getTime()) <= toleranceMs &&
    (step === undefined || step === expected.step) &&
    (subject === undefined || subject === expected.subject)
  );
}

function setsOf(items: readonly string[], size: number): string[][] {
  if (size === 0) {
    return [[]];
  }
  return items.flatMap((item, index) =>
    setsOf(items.slice(index + 1), size - 1).map((rest) => [item, ...rest]),
  );
}
