/** Something that happens later. */
export type Task = () => void | Promise<void>;

interface Entry {
  readonly due: number;
  readonly task: Task;
}

/** Tasks in the order of their time; tasks of the same time in the order they were added. */
export interface Schedule {
  add(due: number, task: Task): () => void;
  nextDue(): number | undefined;
  /** Takes out the first task, if it is due by then. */
  takeUntil(until: number): Entry | undefined;
}

export function createSchedule(): Schedule {
  const entries: Entry[] = [];

  function add(due: number, task: Task): () => void {
    const entry = { due, task };
    entries.splice(placeAfter(entries, due), 0, entry);
    return () => {
      const index = entries.indexOf(entry);
      if (index >= 0) {
        entries.splice(index, 1);
      }
    };
  }

  function takeUntil(until: number): Entry | undefined {
    const [first] = entries;
    return first === undefined || first.due > until ? undefined : entries.shift();
  }

  return { add, nextDue: () => entries[0]?.due, takeUntil };
}

/** Where a task of that time goes: behind all that are due no later. */
function placeAfter(entries: readonly Entry[], due: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = entries[middle];
    if (entry !== undefined && entry.due <= due) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
