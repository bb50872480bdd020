import cliProgress from 'cli-progress';
import type { Context } from '../context.js';

/** Bars on stderr while a command works; nothing where nobody watches. */
export interface Progress {
  /** Shows how far a part is: from 0 to `total`, and what happens to it. */
  show(
    name: string,
    at: { readonly done: number; readonly total: number; readonly note: string },
  ): void;
  stop(): void;
}

/** Starts bars that are as wide as the terminal allows. */
export function startProgress({ output, streams }: Context): Progress {
  if (!output.isInteractive) {
    return { show: () => undefined, stop: () => undefined };
  }
  const columns = streams.stderr.columns || 80;
  const nameWidth = Math.max(8, Math.min(32, Math.floor(columns / 3)));
  const bars = new Map<string, cliProgress.SingleBar>();
  const multi = new cliProgress.MultiBar(
    {
      stream: streams.stderr,
      // A very narrow terminal has room for the figures only.
      format: columns < 50 ? '{name} {percentage}%' : '{name} {bar} {percentage}% {note}',
      barsize: Math.max(10, Math.min(30, columns - nameWidth - 30)),
      clearOnComplete: false,
      hideCursor: true,
      fps: 10,
      gracefulExit: false,
    },
    cliProgress.Presets.shades_classic,
  );
  return {
    show(name, { done, total, note }) {
      const shown = name.length > nameWidth ? `${name.slice(0, nameWidth - 1)}…` : name;
      const payload = { name: shown.padEnd(nameWidth), note };
      const bar = bars.get(name) ?? multi.create(total, 0, payload);
      bars.set(name, bar);
      bar.setTotal(Math.max(total, 1));
      bar.update(done, payload);
    },
    stop: () => multi.stop(),
  };
}
