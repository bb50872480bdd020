import { InvalidArgumentError, Option } from 'commander';

/** `--yes`, of everything that sends, changes, costs or deletes. */
export function yesOption(): Option {
  return new Option('-y, --yes', 'go ahead without asking');
}

/** Adds examples to the end of a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ postreel ${line}`).join('\n')}`;
}

/** Reads a whole number of at least `least`. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < least || value > most) {
      const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
      throw new InvalidArgumentError(`It must be a whole number, ${range}.`);
    }
    return value;
  };
}

/** Reads a number above zero. */
export function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0) {
    throw new InvalidArgumentError('It must be a number above 0.');
  }
  return value;
}

/** Collects `--data name=value`; a value that is JSON becomes that, any other stays text. */
export function collectData(
  text: string,
  earlier: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const at = text.indexOf('=');
  if (at < 1) {
    throw new InvalidArgumentError('Write it as name=value.');
  }
  return { ...earlier, [text.slice(0, at)]: valueOf(text.slice(at + 1)) };
}

/** Collects an option that may be given several times. */
export function collect(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, text];
}

// Digits that a number would change, such as those of a phone, stay text.
function valueOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text || typeof value === 'object' ? value : text;
  } catch {
    return text;
  }
}
