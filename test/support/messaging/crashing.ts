import type { WorkflowStateStore } from 'postreel';
import type { FakeMessaging } from 'postreel/testing';

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Where a process dies: before an operation reaches the other side, or after it has. */
export type Moment = 'before' | 'after';

/** A process that dies at its n-th request or write: from then on nothing of it comes to an end. */
export function dyingAt(
  operation: number,
  moment: Moment,
  { fake, store }: { fake: FakeMessaging; store: WorkflowStateStore },
) {
  let count = 0;
  let die: () => void = () => undefined;
  const dead = new Promise<'dead'>((resolve) => {
    die = () => resolve('dead');
  });
  const step = async <T>(run: () => Promise<T>): Promise<T> => {
    count += 1;
    if (count < operation) {
      return run();
    }
    if (count === operation && moment === 'after') {
      await run();
    }
    die();
    return new Promise<never>(() => undefined);
  };
  const fetch: Fetch = (input, init) => step(() => fake.fetch(input, init));
  const dying: WorkflowStateStore = {
    read: (key) => step(() => store.read(key)),
    write: (key, state) => step(() => store.write(key, state)),
  };
  return { fetch, store: dying, dead };
}
