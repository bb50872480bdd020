import { styleText } from 'node:util';

/** Where a command writes. */
export interface Streams {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly stdin: NodeJS.ReadStream;
}

/** How a piece of text looks where there are colors. */
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/**
 * Results go to stdout: as text in a terminal, as JSON everywhere else and with `--json`. What is
 * said beside them goes to stderr.
 */
export class Output {
  readonly isJson: boolean;
  /** Writes a line above the bars of the terminal; `false` where none stand. */
  aboveBars: ((line: string) => boolean) | undefined;
  readonly #streams: Streams;

  constructor(streams: Streams, isJson = !streams.stdout.isTTY) {
    this.#streams = streams;
    this.isJson = isJson;
  }

  /** How many characters fit in a line. */
  get width(): number {
    return this.#streams.stdout.columns || 80;
  }

  /** May bars and questions be shown? */
  get isInteractive(): boolean {
    return !this.isJson && this.#streams.stderr.isTTY;
  }

  /** The result of the command, or one of many: one line of JSON, or its text. */
  result(value: unknown, text: () => string): void {
    this.#line(this.#streams.stdout, this.isJson ? JSON.stringify(value) : text());
  }

  /** Text that is the same with and without a terminal, such as a drawing. */
  raw(text: string): void {
    this.#streams.stdout.write(text);
  }

  /** Something beside the result. */
  note(text: string): void {
    this.#line(this.#streams.stderr, text);
  }

  // Stdout may be a file while the bars are on a terminal.
  #line(stream: NodeJS.WriteStream, line: string): void {
    if (!(stream.isTTY && this.aboveBars?.(line))) {
      stream.write(`${line}\n`);
    }
  }

  /** A text for stdout in a style, where stdout shows one. */
  paint(style: Style | readonly Style[], text: string): string {
    return this.#paint(this.#streams.stdout, style, text);
  }

  /** A text for stderr in a style, where stderr shows one. */
  paintNote(style: Style | readonly Style[], text: string): string {
    return this.#paint(this.#streams.stderr, style, text);
  }

  #paint(stream: NodeJS.WriteStream, style: Style | readonly Style[], text: string): string {
    const hasColors = stream.isTTY && stream.hasColors();
    return hasColors ? styleText([...[style].flat()], text, { validateStream: false }) : text;
  }
}
