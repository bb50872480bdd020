import * as adoption from '../../../../src/tracker/queue/adoption.js';
import * as protocol from '../../../../src/tracker/queue/protocol.js';
import {
  type EventRecord,
  type StoredRecord,
  tombstoneOf,
} from '../../../../src/tracker/queue/record.js';
import { type Entry, Life, type Ports, type Told } from '../../../../src/tracker/queue/state.js';
import type { Bug } from './bugs.js';
import { type ModelTab, PREFIX, type World } from './world.js';

const DAY = 864e5;
let count = 0;

/** A tab of the world: the queue as it is shipped, with stores and a network that are made up. */
export function openTab(world: World, bug: Bug | undefined): ModelTab {
  const tab: ModelTab = {
    isGone: false,
    isFrozen: false,
    holdsLock: world.settings.hasLocks,
    isAlone: false,
    isLooking: false,
    email: undefined,
    // Set below; the ports need the tab.
    queue: undefined as never,
  };
  const ports = portsOf(world, tab, bug);
  tab.queue = {
    ...ports,
    prefix: PREFIX,
    owner: `<tab ${++count}>`,
    maxAgeMs: DAY,
    delivery: world.settings.delivery,
    entries: [],
    life: Life.Held,
    grantedAt: 0,
    until: 0,
    failures: 0,
    misses: 0,
    room: 60_000,
    erasedAt: 0,
  };
  world.tabs.push(tab);
  return tab;
}

/** As the page does when it starts or comes back. */
export function begin(world: World, tab: ModelTab): void {
  tab.queue.life = Life.Starting;
  tab.holdsLock = world.settings.hasLocks;
  world.callbacks.push({ tab, run: () => protocol.open(tab.queue) });
}

/** Puts a change of the database into its queue. */
export function transact<Result>(
  world: World,
  tab: ModelTab,
  change: {
    readonly ids: readonly string[];
    readonly isCommitted: boolean;
    readonly work: (database: Map<string, StoredRecord>) => Result;
    readonly done?: (result: Result | undefined) => void;
  },
): void {
  const { done } = change;
  if (world.settings.database === 'absent') {
    if (done) {
      world.callbacks.unshift({ tab, run: () => done(undefined) });
    }
    return;
  }
  // The result of the work of this change.
  world.transactions.push({
    ...change,
    tab,
    done: done as ((result: unknown) => void) | undefined,
  });
}

function portsOf(world: World, tab: ModelTab, bug: Bug | undefined): Ports {
  const write = (record: StoredRecord) => {
    if (world.isLocalFull && !world.local.has(record.id)) {
      return false;
    }
    world.local.set(record.id, record);
    return true;
  };
  return {
    emit: () => undefined,
    now: () => world.now,
    isOnline: () => world.isOnline,
    hasSlot: () => true,
    copyOf: (id) => copyOf(world, id),
    heldUntil: () => world.hold,
    sizeOf: () => 3000,
    note: (entry) => {
      if (bug === 'no mark in localStorage' && entry.record.state) {
        return;
      }
      if (write(entry.record)) {
        entry.isStored = true;
      }
    },
    put: (entries) => {
      if (bug === 'no mark in IndexedDB' && entries.some(({ record }) => record.state)) {
        return;
      }
      const records = entries.filter(({ isStored }) => isStored).map(({ record }) => record);
      if (records.length) {
        put(world, tab, records);
      }
    },
    claim: (entry, seen, told) => claim(world, tab, { entry, seen, told, bug }),
    bury: (record) => {
      write(tombstoneOf(record));
      if (bug === 'localStorage forgets first') {
        world.local.delete(record.id);
      }
      put(world, tab, [tombstoneOf(record)], () => world.local.delete(record.id));
    },
    send: (batch) => batch.forEach((entry) => send(world, tab, entry, bug)),
    hold: (until) => {
      if (world.now !== world.lastTooMany) {
        world.fail('all tabs wait, though nobody said 429');
      }
      world.hold = until;
    },
    settle: (entry, reason) => settle(world, entry, reason),
  };
}

export const copyOf = (world: World, id: string): StoredRecord | undefined => {
  const copy = world.local.get(id) as StoredRecord | null | undefined;
  return copy?.id === id ? copy : undefined;
};

function put(world: World, tab: ModelTab, records: StoredRecord[], done?: () => void): void {
  transact(world, tab, {
    ids: records.map(({ id }) => id),
    isCommitted: true,
    work: (database) => {
      for (const record of records) {
        database.set(record.id, record);
      }
      return true;
    },
    done: (isDone) => {
      if (isDone) {
        done?.();
      }
    },
  });
}

interface Wanted {
  readonly entry: Entry;
  readonly seen: StoredRecord;
  /** Set where the event is taken over from another tab. */
  readonly told: Told | undefined;
  readonly bug: Bug | undefined;
}

function claim(world: World, tab: ModelTab, { entry, seen, told, bug }: Wanted): void {
  const { record } = entry;
  const tell = (isWon: boolean | undefined) =>
    (told ?? protocol.claimed)(tab.queue, { entry, record }, isWon);
  if (!entry.isStored || world.settings.database === 'absent') {
    const isOurs = !told || tab.isAlone;
    world.callbacks.unshift({ tab, run: () => tell(isOurs) });
    return;
  }
  transact(world, tab, {
    ids: [record.id],
    isCommitted: false,
    work: (database) => {
      const isWon =
        (bug === 'orphans go to every tab' && !!told) ||
        adoption.mayClaim(seen, database.get(record.id), database.get(PREFIX));
      if (isWon) {
        database.set(record.id, record);
      }
      return isWon;
    },
    done: tell,
  });
}

function send(world: World, tab: ModelTab, entry: Entry, bug: Bug | undefined): void {
  const truth = world.truths.get(entry.record.id);
  if (!truth) {
    world.fail(`sends an event that nobody tracked: ${entry.record.id}`);
    return;
  }
  truth.sent++;
  if (truth.isErased && !truth.maySurvive) {
    world.fail(`${truth.id} is sent after its erasure`);
  }
  const email = bug === 'the contact of the moment' ? tab.queue.email : entry.record.email;
  world.requests.push({
    tab,
    entry,
    truth,
    email,
    isAccepted: false,
    isExit: tab.queue.life === Life.Left,
  });
}

function settle(world: World, entry: Entry, reason: string | undefined): void {
  const truth = world.truths.get(entry.record.id);
  world.requests = world.requests.filter(
    (request) => request.entry !== entry || request.isAccepted || !truth?.isErased,
  );
  if (!truth || !reason) {
    return;
  }
  const { delivery, database, hasLocks } = world.settings;
  const isOld = protocol.isExpired({ now: () => world.now, maxAgeMs: DAY }, entry.record);
  if (reason === 'expired' && !isOld) {
    world.fail(`${truth.id} has expired too early`);
  }
  if (reason === 'unconfirmed' && delivery === 'no-loss') {
    world.fail(`${truth.id} is given up`);
  }
  // Nobody knows what became of it: that is only so if it was sent.
  // Nobody knows either where a database wrote the mark and said that it failed.
  // and, without locks, where another tab took over what its living owner was about to send.
  const isCertain = database !== 'flaky' && hasLocks;
  if (isCertain && reason === 'unconfirmed' && !truth.sent && !truth.mayBeLost && !truth.end) {
    world.fail(`${truth.id} is unconfirmed, though it was never sent`);
  }
  if (reason === 'reset' && !truth.isErased) {
    world.fail(`${truth.id} is erased by nobody`);
  }
  truth.end ??= reason;
}

/** As the page does with `reset()` and `deny()`. */
export function erase(world: World, tab: ModelTab, reason: 'reset' | 'denied', bug?: Bug): void {
  const { queue } = tab;
  if (reason === 'denied') {
    queue.consent = reason;
  }
  queue.email = undefined;
  const { entries } = queue;
  for (const { record } of entries) {
    world.truths.get(record.id)!.isErased = true;
  }
  const copies = [...world.local.keys()].flatMap((key) =>
    key.startsWith(PREFIX) ? (copyOf(world, key) ?? []) : [],
  );
  const erasure = protocol.erase(queue, reason, copies);
  world.erasedAt = Math.max(world.erasedAt, erasure.at);
  for (const truth of world.truths.values()) {
    truth.isErased = true;
    truth.end ??= 'erased';
    // The clock was set back, and nothing in localStorage tells when this one was tracked.
    if (truth.at > erasure.at) {
      truth.maySurvive = true;
    }
  }
  if (bug === 'erases its own events only') {
    return;
  }
  for (const key of [...world.local.keys()]) {
    if (key.startsWith(PREFIX)) {
      world.local.delete(key);
    }
  }
  world.local.set(PREFIX, erasure);
  if (reason === 'denied') {
    queue.grantedAt = 0;
  }
  transact(world, tab, {
    ids: [...world.truths.keys()],
    isCommitted: true,
    work: (database) => {
      database.clear();
      database.set(PREFIX, erasure);
    },
  });
}

/** As the page does when it looks for what tabs left that are gone. */
export function look(world: World, tab: ModelTab, bug?: Bug): void {
  const isAbsent = world.settings.database === 'absent';
  // Nothing can tell then that one tab gets each.
  if (tab.isLooking || (isAbsent && (!world.settings.hasLocks || world.adoptLock))) {
    return;
  }
  tab.isLooking = true;
  if (isAbsent) {
    world.adoptLock = tab;
  }
  const before = living(world);
  transact(world, tab, {
    ids: [],
    isCommitted: false,
    work: (database) => [...database.values()],
    done: (stored) => readLocal(world, tab, { stored, before, isAbsent, bug }),
  });
}

const living = ({ tabs }: World): string =>
  'tabs:' +
  tabs
    .filter(({ holdsLock }) => holdsLock)
    .map(({ queue }) => queue.owner)
    .join();

interface Look {
  readonly stored: readonly StoredRecord[] | undefined;
  readonly before: string;
  readonly isAbsent: boolean;
  readonly bug: Bug | undefined;
}

function readLocal(world: World, tab: ModelTab, { stored, before, isAbsent, bug }: Look): void {
  const local = [...world.local.keys()].flatMap((key) =>
    key.startsWith(PREFIX) ? (copyOf(world, key) ?? []) : [],
  );
  const copies = [...(stored ?? []), ...local];
  const found =
    bug === 'the older copy wins'
      ? [...new Map(copies.reverse().map((copy) => [copy.id, copy])).values()]
      : adoption.newest(copies);
  protocol.noteErasure(
    tab.queue,
    found.find(({ id }) => id === PREFIX),
  );
  tab.isAlone = isAbsent;
  // The names of the living are asked for once more, and meanwhile anything may happen.
  world.callbacks.push({
    tab,
    run: () => {
      const names = bug === 'takes from tabs that live' ? 'tabs:' : before + living(world);
      adopt(world, tab, found, world.settings.hasLocks ? names : undefined);
    },
  });
}

function adopt(
  world: World,
  tab: ModelTab,
  found: readonly StoredRecord[],
  living: string | undefined,
): void {
  const { queue } = tab;
  if (queue.life === Life.Open) {
    adoption.adopt(queue, { records: found, living });
  }
  cleanUp(world, tab, found);
  world.callbacks.push({
    tab,
    run: () => {
      tab.isLooking = false;
      tab.isAlone = false;
      if (world.adoptLock === tab) {
        world.adoptLock = undefined;
      }
    },
  });
}

function cleanUp(world: World, tab: ModelTab, found: readonly StoredRecord[]): void {
  for (const record of found) {
    if (protocol.isAlive(tab.queue, record) || record.id === PREFIX) {
      continue;
    }
    const { id, at } = record;
    if (at <= tab.queue.erasedAt || protocol.isExpired(tab.queue, record)) {
      world.local.delete(id);
      transact(world, tab, {
        ids: [],
        isCommitted: true,
        work: (database) => database.delete(id),
      });
    } else if (world.local.has(id)) {
      tab.queue.bury(record);
    }
  }
}

/** An event that the page tracks. */
export const recordOf = (world: World, tab: ModelTab, id: string): EventRecord => ({
  id,
  event: 'clicked',
  email: tab.queue.email,
  at: Math.max(world.now, tab.queue.erasedAt + 1),
  owner: tab.queue.owner,
  state: 0,
  version: world.now,
  tries: 0,
});
