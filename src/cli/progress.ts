import cliProgress from 'cli-progress';
import type { ThrottledEvent } from 'postreel';
import type { Context } from './context.js';

/** Progress bars on stderr while a command runs; none if stderr is not a terminal. */
export interface ProgressBars {
  /** Shows the progress of a part, from 0 to `total`, and its current step. */
  show(
    name: string,
    at: { readonly done: number; readonly total: number; readonly note: string },
  ): void;
  /** Removes the bar of a finished part. */
  end(name: string): void;
  stop(): void;
}

/** The reason and the length of a wait, in words. */
export function formatWait({ reason, waitMs }: Pick<ThrottledEvent, 'reason' | 'waitMs'>): string {
  const what = reason === 'service' ? 'the service, which asked for it' : 'the rate limit';
  return `waiting ${Math.ceil(waitMs / 1000)} s for ${what}`;
}

/** Starts bars as wide as the terminal allows, and at most as many as it has lines for. */
export function startProgress({ output, streams }: Context): ProgressBars {
  if (!output.isInteractive) {
    return { show: () => undefined, end: () => undefined, stop: () => undefined };
  }
  const columns = streams.stderr.columns || 80;
  const maxBars = Math.max(1, (streams.stderr.rows || 24) - 4);
  const nameWidth = Math.max(8, Math.min(32, Math.floor(columns / 3)));
  const bars = new Map<string, cliProgress.SingleBar>();
  const multi = openBars(streams.stderr, columns, nameWidth);
  output.aboveBars = (line) => writeAbove(multi, line);
  return {
    show(name, { done, total, note }) {
      const payload = { name: shorten(name, nameWidth), note };
      const bar = bars.get(name) ?? (bars.size < maxBars && multi.create(total, 0, payload));
      if (bar) {
        bars.set(name, bar);
        bar.setTotal(Math.max(total, 1));
        bar.update(done, payload);
      }
    },
    end(name) {
      const bar = bars.get(name);
      if (bar && bars.size > 1) {
        bars.delete(name);
        multi.remove(bar);
      }
    },
    stop() {
      if (bars.size > 0) {
        multi.stop(); // it ends the line of the bars
      }
      output.aboveBars = undefined;
    },
  };
}

function openBars(stream: NodeJS.WriteStream, columns: number, nameWidth: number) {
  return new cliProgress.MultiBar(
    {
      stream,
      // A very narrow terminal shows only the numbers.
      format: columns < 50 ? '{name} {percentage}%' : '{name} {bar} {percentage}% {note}',
      barsize: Math.max(10, Math.min(30, columns - nameWidth - 30)),
      clearOnComplete: false,
      hideCursor: true,
      forceRedraw: true, // below the line that replaced it
      fps: 10,
      gracefulExit: false,
    },
    cliProgress.Presets.shades_classic,
  );
}

/** Writes a line above the bars; returns `false` if there are none. */
function writeAbove(multi: cliProgress.MultiBar, line: string): boolean {
  if (!multi.isActive) {
    return false;
  }
  // Bars are cut off at the edge of the terminal. Enable line wrapping for this line only.
  multi.log(`\u001B[?7h${line}\u001B[?7l\n`);
  multi.update();
  return true;
}

function shorten(name: string, width: number): string {
  return (name.length > width ? `${name.slice(0, width - 1)}…` : name).padEnd(width);
}
