import * as adoption from '../../../../src/tracker/queue/adoption.js';
import * as protocol from '../../../../src/tracker/queue/protocol.js';
import { type Decisions, isAhead, isDenied } from '../../../../src/tracker/queue/decisions.js';
import {
  type EventRecord,
  NOBODY,
  type StoredRecord,
  tombstoneOf,
} from '../../../../src/tracker/queue/record.js';
import {
  type Entry,
  Life,
  Phase,
  type Ports,
  type OnClaimed,
} from '../../../../src/tracker/queue/state.js';
import type { Bug } from './bugs.js';
import { type ModelTab, NONE, PREFIX, type Truth, type World, latest } from './world.js';

const DAY = 864e5;
let count = 0;

/** A tab of the world: the queue as it is shipped, with stores and a network that are made up. */
export function openTab(world: World, bug: Bug | undefined, isDurable = true): ModelTab {
  const tab: ModelTab = {
    isGone: false,
    isFrozen: false,
    isListening: world.settings.hasChannel,
    memory: isDurable ? undefined : new Map(),
    mustKnow: world.mustHold.local,
    isAlone: false,
    isLooking: false,
    wait: { hold: 0, mustWait: 0 },
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
    maxBatch: world.chance(0.3) ? 20 : 1,
    isDurable,
    isLasting: isDurable,
    delivery: world.settings.delivery,
    entries: [],
    life: Life.Pending,
    isStarted: false,
    isConsentKnown: false,
    isWithinSite: false,
    decisions: world.localDecisions,
    identifiedAt: Math.max(world.now, world.localDecisions.erasedAt + 1),
    until: 0,
    failures: 0,
    unanswered: 0,
    room: 60_000,
  };
  world.tabs.push(tab);
  askOthers(world, tab, bug);
  return tab;
}

/** As the page does when it starts or comes back. */
export function begin(world: World, tab: ModelTab, bug?: Bug): void {
  tab.queue.life = Life.Starting;
  tab.isListening = world.settings.hasChannel;
  if (world.settings.database === 'absent') {
    world.callbacks.push({ tab, run: () => protocol.open(tab.queue) });
    return;
  }
  transact(world, tab, {
    ids: [],
    isCommitted: false,
    work: () => [world.databaseDecisions, world.mustHold.database] as const,
    done: (read) => {
      reconcile(world, tab, read?.[0] ?? NONE, bug);
      learn(tab, read?.[1] ?? NONE);
      protocol.sweep(tab.queue);
      if (isDenied(tab.queue.decisions)) {
        eventsIn(world).forEach((id) => world.local.delete(id));
      }
      protocol.open(tab.queue);
    },
  });
}

/** As the page does with the decisions that IndexedDB has. */
function reconcile(world: World, tab: ModelTab, inDatabase: Decisions, bug: Bug | undefined): void {
  if (bug !== 'asks no database for a denial') {
    protocol.noteDecisions(tab.queue, inDatabase);
  }
  if (isAhead(tab.queue.decisions, inDatabase)) {
    saveInDatabase(world, tab, tab.queue.decisions);
  }
}

const learn = (tab: ModelTab, decisions: Decisions): void => {
  tab.mustKnow = latest(tab.mustKnow, decisions);
};

/** A tab that starts asks the others what they know; they answer with it. */
function askOthers(world: World, tab: ModelTab, bug: Bug | undefined): void {
  for (const other of listeners(world, tab)) {
    world.callbacks.push({
      tab: other,
      run: () => hear(world, tab, { ...other.queue.decisions }, bug),
    });
  }
}

const listeners = (world: World, tab: ModelTab): ModelTab[] =>
  tab.isListening ? world.tabs.filter((other) => other !== tab && other.isListening) : [];

/** Messages that are on their way to a tab. */
function hear(world: World, tab: ModelTab, decisions: Decisions, bug: Bug | undefined): void {
  if (!tab.isListening) {
    return;
  }
  tab.unheard = (tab.unheard ?? 0) + 1;
  world.told = latest(world.told, decisions);
  world.callbacks.push({
    tab,
    run: () => {
      tab.unheard = (tab.unheard ?? 1) - 1;
      if (!tab.isListening) {
        return;
      }
      // The books know of it, whatever the fault.
      learn(tab, decisions);
      if (bug !== 'tells no other tab') {
        protocol.noteDecisions(tab.queue, decisions);
      }
      protocol.sweep(tab.queue);
    },
  });
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
    if (tab.memory) {
      tab.memory.set(record.id, record);
      return true;
    }
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
    copyOf: (id) => (tab.memory ? tab.memory.get(id) : copyOf(world, id)),
    storedDecisions: () =>
      bug === 'reads no decision of others' ? tab.queue.decisions : world.localDecisions,
    saveDecisions: (decisions) => saveDecisions(world, tab, decisions, bug),
    pausedUntil: () => world.waitOf(tab).hold,
    sizeOf: () => 3000,
    saveLocal: (entry) => {
      if (bug === 'no mark in localStorage' && entry.record.state) {
        return;
      }
      if (write(entry.record)) {
        entry.isStored = true;
      }
    },
    saveDurable: (entries) => {
      if (bug === 'no mark in IndexedDB' && entries.some(({ record }) => record.state)) {
        return;
      }
      const records = entries.filter(({ isStored }) => isStored).map(({ record }) => record);
      if (records.length && !tab.memory) {
        put(world, tab, records);
      }
    },
    claim: (entry, seen, onClaimed) => claim(world, tab, { entry, seen, onClaimed, bug }),
    deleteRecord: (record) => {
      write(tombstoneOf(record));
      if (tab.memory) {
        tab.memory.delete(record.id);
        return;
      }
      if (bug === 'localStorage forgets first') {
        world.local.delete(record.id);
      }
      put(world, tab, [tombstoneOf(record)], () => world.local.delete(record.id));
    },
    removeRecord: (id) => removeRecord(world, tab, id),
    send: (batch) => batch.forEach((entry) => send(world, tab, entry, bug)),
    pauseAllTabs: (until) => {
      if (world.now !== world.lastTooMany) {
        world.fail('all tabs wait, though the service answered no 429');
      }
      Object.assign(world.waitOf(tab), { hold: until, mustWait: until });
    },
    finish: (entry, reason) => finish(world, entry, reason),
  };
}

/** As the page does: localStorage at once, IndexedDB in a change of its own that adds to it. */
function saveDecisions(
  world: World,
  tab: ModelTab,
  decisions: Decisions,
  bug: Bug | undefined,
): void {
  if (bug === 'a reset overwrites a denial') {
    world.localDecisions = {
      ...decisions,
      deniedAt: decisions.erasedAt > decisions.deniedAt ? 0 : decisions.deniedAt,
    };
  } else {
    world.localDecisions = latest(world.localDecisions, decisions);
  }
  world.mustHold.local = latest(world.mustHold.local, tab.mustKnow);
  saveInDatabase(world, tab, decisions);
}

function saveInDatabase(world: World, tab: ModelTab, decisions: Decisions): void {
  const { mustKnow } = tab;
  if (tab.memory) {
    return;
  }
  transact(world, tab, {
    ids: [],
    isCommitted: false,
    work: () => {
      world.databaseDecisions = latest(world.databaseDecisions, decisions);
      world.mustHold.database = latest(world.mustHold.database, mustKnow);
    },
  });
}

function removeRecord(world: World, tab: ModelTab, id: string): void {
  if (tab.memory) {
    tab.memory.delete(id);
    return;
  }
  world.local.delete(id);
  transact(world, tab, {
    ids: [],
    isCommitted: true,
    work: (database) => database.delete(id),
  });
}

/** The ids of the events in localStorage. */
const eventsIn = (world: World): string[] =>
  [...world.local.keys()].filter((key) => key.startsWith(PREFIX));

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
  readonly onClaimed: OnClaimed | undefined;
  readonly bug: Bug | undefined;
}

function claim(world: World, tab: ModelTab, { entry, seen, onClaimed, bug }: Wanted): void {
  const { record } = entry;
  // What was marked before the answer came is sent all the same.
  if (!onClaimed && entry.phase === Phase.Marking && record.state && mustWait(world, tab)) {
    world.fail(`${record.id} is about to be sent before the service allows it`);
  }
  const tell = (isWon: boolean | undefined) =>
    (onClaimed ?? protocol.claimed)(tab.queue, { entry, record }, isWon);
  if (!entry.isStored || tab.memory || world.settings.database === 'absent') {
    const isOurs = !onClaimed || tab.isAlone;
    world.callbacks.unshift({ tab, run: () => tell(isOurs) });
    return;
  }
  transact(world, tab, {
    ids: [record.id],
    isCommitted: false,
    work: (database) => {
      const inDatabase = { copy: database.get(record.id), decisions: world.databaseDecisions };
      const isWon =
        (bug === 'orphans go to every tab' && !!onClaimed) ||
        adoption.mayClaim(tab.queue, seen, inDatabase);
      if (isWon) {
        database.set(record.id, record);
      }
      return isWon;
    },
    done: tell,
  });
}

/** Has the service asked for a wait? One that is longer was set by a clock that has been set back. */
export function mustWait(world: World, tab: ModelTab): boolean {
  const { mustWait: until } = world.waitOf(tab);
  return until > world.now && until <= world.now + 3e5;
}

function send(world: World, tab: ModelTab, entry: Entry, bug: Bug | undefined): void {
  const truth = world.truths.get(entry.record.id);
  if (!truth) {
    world.fail(`sends an event that nobody tracked: ${entry.record.id}`);
    return;
  }
  truth.sent++;
  if (truth.isErased && !truth.maySurvive && mustBeKnown(world, tab, truth)) {
    world.fail(`${truth.id} is sent after its erasure or denial`);
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

/** Does anything that this tab must have asked or heard stand against sending the event? */
function mustBeKnown(world: World, tab: ModelTab, { at }: Truth): boolean {
  const { database } = world.settings;
  // What is in IndexedDB was read at the start, or told since then, unless that is on its way.
  const isRead = database === 'healthy' && !tab.memory && world.settings.hasChannel && !tab.unheard;
  const places = [world.mustHold.local, tab.mustKnow, ...(isRead ? [world.mustHold.database] : [])];
  const { erasedAt, deniedAt, grantedAt } = places.reduce(latest);
  // It may know of a later grant than the books ask for, if there was one.
  const known = tab.queue.decisions.grantedAt;
  const granted = world.grants.has(known) ? Math.max(known, grantedAt) : grantedAt;
  return at <= erasedAt || (deniedAt > 0 && deniedAt >= granted);
}

function finish(world: World, entry: Entry, reason: string | undefined): void {
  const truth = world.truths.get(entry.record.id);
  world.requests = world.requests.filter(
    (request) => request.entry !== entry || request.isAccepted || !truth?.isErased,
  );
  if (!truth || !reason) {
    return;
  }
  const { delivery, database, hasChannel } = world.settings;
  const isOld = protocol.isExpired({ now: () => world.now, maxAgeMs: DAY }, entry.record);
  if (reason === 'expired' && !isOld) {
    world.fail(`${truth.id} has expired too early`);
  }
  if (reason === 'unconfirmed' && delivery === 'no-loss') {
    world.fail(`${truth.id} is given up`);
  }
  // What became of it is unknown only if it was sent, or where a database wrote the mark and said that it failed.
  // and where another tab took over what its living owner was about to send: it could not be asked.
  const isCertain = database !== 'flaky' && hasChannel && !world.wasMistaken;
  if (isCertain && reason === 'unconfirmed' && !truth.sent && !truth.mayBeLost && !truth.end) {
    world.fail(`${truth.id} is unconfirmed, though it was never sent`);
  }
  if (reason === 'rejected' && !truth.isRefused) {
    world.fail(`${truth.id} is dropped, though the service did not refuse it`);
  }
  if (reason === 'reset' && !truth.isErased) {
    world.fail(`${truth.id} is erased by no tab`);
  }
  truth.end ??= reason;
}

/** As the page does with `reset()` and `deny()`. */
export function erase(world: World, tab: ModelTab, decision: 'erased' | 'denied', bug?: Bug): void {
  const { queue } = tab;
  queue.email = undefined;
  const copies = eventsIn(world).flatMap((key) => copyOf(world, key) ?? []);
  for (const { record } of queue.entries) {
    world.truths.get(record.id)!.isErased = true;
  }
  const before = latest(queue.decisions, world.localDecisions);
  protocol.decide(queue, decision, copies);
  checkDecision(world, before, queue.decisions, decision);
  const { erasedAt } = queue.decisions;
  for (const truth of world.truths.values()) {
    truth.isErased = true;
    truth.end ??= 'erased';
    // The clock was set back, and nothing in localStorage tells when this one was tracked.
    if (truth.at > erasedAt) {
      truth.maySurvive ||= decision !== 'denied';
    }
  }
  if (bug === 'erases its own events only') {
    world.mustHold.local = latest(world.mustHold.local, queue.decisions);
    return;
  }
  const hadEvents = copies.length > 0;
  eventsIn(world).forEach((key) => world.local.delete(key));
  tab.memory?.clear();
  if (bug === 'a reset forgets the wait of a 429') {
    world.waitOf(tab).hold = 0;
  }
  learn(tab, queue.decisions);
  const isKept = decision === 'denied' || queue.isDurable || hadEvents;
  if (isKept) {
    saveDecisions(world, tab, queue.decisions, bug);
  }
  listeners(world, tab).forEach((other) => hear(world, other, queue.decisions, bug));
  const { decisions } = queue;
  const { mustKnow } = tab;
  transact(world, tab, {
    ids: [],
    isCommitted: false,
    work: (database) => {
      database.clear();
      world.databaseDecisions = latest(world.databaseDecisions, decisions);
      world.mustHold.database = latest(world.mustHold.database, mustKnow);
    },
  });
}

/** As the page does with `consent.grant()`. */
export function grantAll(world: World, tab: ModelTab, bug?: Bug): void {
  const { queue } = tab;
  const before = latest(queue.decisions, world.localDecisions);
  protocol.decide(queue, 'granted');
  world.grants.add(queue.decisions.grantedAt);
  checkDecision(world, before, queue.decisions, 'granted');
  learn(tab, queue.decisions);
  saveDecisions(world, tab, queue.decisions, bug);
  listeners(world, tab).forEach((other) => hear(world, other, queue.decisions, bug));
}

/** A decision undoes none that was made before, and is the last one. */
function checkDecision(world: World, before: Decisions, after: Decisions, decision: string): void {
  const all = latest(before, after);
  const isLater = (['erasedAt', 'deniedAt', 'grantedAt'] as const).every(
    (field) => all[field] === after[field],
  );
  const isDeniedNow = after.deniedAt > 0 && after.deniedAt >= after.grantedAt;
  const wasDenied = before.deniedAt > 0 && before.deniedAt >= before.grantedAt;
  const expected = decision === 'denied' || (decision === 'erased' && wasDenied);
  if (!isLater || isDeniedNow !== expected) {
    world.fail(`${decision} leaves ${JSON.stringify(after)} of ${JSON.stringify(before)}`);
  }
}

/** As the page does when it looks for what tabs left that are gone. */
export function look(world: World, tab: ModelTab, bug?: Bug): void {
  const isAbsent = world.settings.database === 'absent';
  // Nothing can tell then that one tab gets each.
  const isImpossible = isAbsent && (!world.settings.hasLocks || world.adoptLock);
  if (tab.isLooking || isImpossible || tab.memory) {
    return;
  }
  tab.isLooking = true;
  if (isAbsent) {
    world.adoptLock = tab;
  }
  readAll(world, tab, bug, (found) => {
    const owners = new Set(
      found
        .filter((record) => protocol.isAlive(tab.queue, record))
        .flatMap(({ owner = NOBODY }) =>
          owner === NOBODY || owner === tab.queue.owner ? [] : owner,
        ),
    );
    tab.isAlone = isAbsent;
    adopt(tab, found, new Set());
    const silent = silentOf(world, tab, owners, bug);
    // Meanwhile anything may happen.
    readAll(world, tab, bug, (again) => {
      adopt(tab, again, silent);
      cleanUp(world, tab, again);
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
    });
  });
}

/** The owners that do not answer: gone, away, or too busy. */
function silentOf(
  world: World,
  tab: ModelTab,
  owners: ReadonlySet<string>,
  bug: Bug | undefined,
): ReadonlySet<string> | undefined {
  if (!tab.isListening) {
    return undefined;
  }
  return new Set(
    [...owners].filter((owner) => {
      const living = world.tabs.find(({ queue }) => queue.owner === owner);
      if (!living?.isListening || bug === 'takes from tabs that live') {
        return true;
      }
      const isBusy = world.chance(0.15);
      world.wasMistaken ||= isBusy;
      if (isBusy) {
        world.truths.forEach((truth) => {
          truth.mayRepeat ||= world.settings.database !== 'healthy';
          // Its owner may be binding it, and loses the claim.
          truth.mayChange ||= !world.database.get(truth.id)?.email;
        });
      }
      return isBusy;
    }),
  );
}

function readAll(
  world: World,
  tab: ModelTab,
  bug: Bug | undefined,
  done: (found: StoredRecord[]) => void,
): void {
  transact(world, tab, {
    ids: [],
    isCommitted: false,
    work: (database) =>
      [[...database.values()], world.databaseDecisions, world.mustHold.database] as const,
    done: (read) => {
      const [stored, decisions, mustKnow] = read ?? [[], NONE, NONE];
      reconcile(world, tab, decisions, bug);
      learn(tab, mustKnow);
      protocol.sweep(tab.queue);
      const local = eventsIn(world).flatMap((key) => copyOf(world, key) ?? []);
      const copies = [...stored, ...local];
      done(
        bug === 'the older copy wins'
          ? [...new Map(copies.reverse().map((copy) => [copy.id, copy])).values()]
          : adoption.newest(copies),
      );
    },
  });
}

function adopt(
  { queue }: ModelTab,
  records: readonly StoredRecord[],
  silent: ReadonlySet<string> | undefined,
): void {
  if (queue.life === Life.Open) {
    adoption.adopt(queue, { records, silent });
  }
}

function cleanUp(world: World, tab: ModelTab, found: readonly StoredRecord[]): void {
  const { queue } = tab;
  for (const record of found) {
    const { id, at, event } = record;
    const isErased = isDenied(queue.decisions) || at <= queue.decisions.erasedAt;
    if (isErased || (!event && protocol.isExpired(queue, record))) {
      removeRecord(world, tab, id);
    } else if (!event && world.local.has(id)) {
      queue.deleteRecord(record);
    }
  }
}

/** An event that the page tracks. */
export const recordOf = (world: World, tab: ModelTab, id: string): EventRecord => ({
  id,
  event: 'clicked',
  email: tab.queue.email,
  at: Math.max(world.now, tab.queue.decisions.erasedAt + 1),
  owner: tab.queue.owner,
  state: 0,
  version: world.now,
  tries: 0,
});
