import xterm from '@xterm/headless';

/** A character cell's look, as far as the command uses any. */
export interface Run {
  text: string;
  readonly bold: boolean;
  readonly dim: boolean;
  /** The number of one of the terminal's colors; -1 without. */
  readonly color: number;
}

/** The visible lines after all of this output, in runs of one style. */
export async function screenOf(written: string, columns = 100): Promise<Run[][]> {
  const terminal = new xterm.Terminal({ cols: columns, rows: 40, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(written, resolve));
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, y) => {
    const runs: Run[] = [];
    for (let x = 0; x < columns; x++) {
      const cell = active.getLine(y)?.getCell(x);
      const look = {
        bold: cell?.isBold() !== 0,
        dim: cell?.isDim() !== 0,
        color: cell?.getFgColor() ?? -1,
      };
      const text = cell?.getChars() || ' ';
      const last = runs.at(-1);
      if (last && last.bold === look.bold && last.dim === look.dim && last.color === look.color) {
        last.text += text;
      } else {
        runs.push({ text, ...look });
      }
    }
    return runs;
  });
  terminal.dispose();
  while (textOf(lines.at(-1) ?? []) === '' && lines.length > 0) {
    lines.pop();
  }
  return lines;
}

/** A line without its looks. */
export function textOf(line: readonly Run[]): string {
  return line
    .map(({ text }) => text)
    .join('')
    .trimEnd();
}
