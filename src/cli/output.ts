import { styleText } from 'node:util';

/** The streams of a command. */
export interface Streams {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly stdin: NodeJS.ReadStream;
}

/** A text style, used where the terminal shows colors. */
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/**
 * Results go to stdout: as text in a terminal, as JSON everywhere else and with `--json`. All other messages
 * go to stderr.
 */
export class Output {
  readonly isJson: boolean;
  /** Writes a line above the progress bars of the terminal; returns `false` if there are none. */
  aboveBars: ((line: string) => boolean) | undefined;
  readonly #streams: Streams;

  constructor(streams: Streams, isJson = !streams.stdout.isTTY) {
    this.#streams = streams;
    this.isJson = isJson;
  }

  /** The width of the terminal in characters. */
  get width(): number {
    return this.#streams.stdout.columns || 80;
  }

  /** True if progress bars and questions may be shown. */
  get isInteractive(): boolean {
    return !this.isJson && this.#streams.stderr.isTTY;
  }

  /** Writes the result of the command, or one of several results: one line of JSON, or its text. */
  result(value: unknown, text: () => string): void {
    this.#line(this.#streams.stdout, this.isJson ? JSON.stringify(value) : text());
  }

  /** Writes text that is the same with and without a terminal, such as a drawing. */
  raw(text: string): void {
    this.#streams.stdout.write(text);
  }

  /** Writes a message to stderr. */
  note(text: string): void {
    this.#line(this.#streams.stderr, text);
  }

  // Stdout may be a file while the progress bars are in a terminal.
  #line(stream: NodeJS.WriteStream, line: string): void {
    if (!(stream.isTTY && this.aboveBars?.(line))) {
      stream.write(`${line}\n`);
    }
  }

  /** Applies a style to a text for stdout, if stdout supports styles. */
  paint(style: Style | readonly Style[], text: string): string {
    return this.#paint(this.#streams.stdout, style, text);
  }

  /** Applies a style to a text for stderr, if stderr supports styles. */
  paintNote(style: Style | readonly Style[], text: string): string {
    return this.#paint(this.#streams.stderr, style, text);
  }

  #paint(stream: NodeJS.WriteStream, style: Style | readonly Style[], text: string): string {
    const hasColors = stream.isTTY && stream.hasColors();
    return hasColors ? styleText([...[style].flat()], text, { validateStream: false }) : text;
  }
}
