import { newest } from '../../../../src/tracker/queue/adoption.js';
import { answered } from '../../../../src/tracker/queue/answers.js';
import * as protocol from '../../../../src/tracker/queue/protocol.js';
import { type Decisions, isAhead, isDenied } from '../../../../src/tracker/queue/decisions.js';
import type { StoredRecord } from '../../../../src/tracker/queue/record.js';
import { type Entry, Life, Phase } from '../../../../src/tracker/queue/state.js';
import type { Bug } from './bugs.js';
import { begin, copyOf, erase, grantAll, look, mustWait, openTab, recordOf } from './tab.js';
import {
  type ModelRequest,
  type ModelTab,
  NONE,
  PREFIX,
  type Truth,
  World,
  latest,
} from './world.js';

const EMAILS = ['ann@example.com', 'bob@example.com'];

/** Lives one random world to its end; returns what was not as promised. */
export function liveWorld(seed: number, bug?: Bug): World {
  const world = new World(seed);
  const steps = 20 + Math.floor(world.random() * 80);
  const mood = moodOf(world);
  wakeUp(world, bug);
  for (let step = 0; step < steps && !world.problems.length; step++) {
    act(world, mood, bug);
  }
  if (!world.problems.length) {
    calmDown(world, bug);
  }
  if (!world.problems.length) {
    judge(world);
  }
  return world;
}

/** One to three tabs, whose stores are mostly open before anything happens. */
function wakeUp(world: World, bug: Bug | undefined): void {
  const tabs = world.pick([1, 2, 2, 3]);
  for (let tab = 0; tab < tabs; tab++) {
    start(world, bug);
  }
  if (world.chance(0.7)) {
    catchUp(world);
  }
}

/** Every change is made, and every tab hears of it. */
function catchUp(world: World): void {
  while (world.transactions.length || world.callbacks.some(({ tab }) => !tab.isFrozen)) {
    world.transact();
    world.answer();
  }
}

type Act = (world: World, bug: Bug | undefined) => void;

/** What may happen, and how often. */
const ACTS: readonly (readonly [weight: number, name: string, act: Act])[] = [
  [20, 'a transaction', (world) => world.transact()],
  [20, 'an answer', (world) => world.answer()],
  [4, 'catch up', catchUp],
  [14, 'track', track],
  [14, 'tick', (world) => onTab(world, tick)],
  [14, 'network', network],
  [6, 'look', (world, bug) => onTab(world, (tab) => look(world, tab, bug))],
  [4, 'start', start],
  [4, 'leave', leave],
  [3, 'come back', comeBack],
  [3, 'disk', (world) => world.toDisk()],
  [5, 'time', passTime],
  [3, 'hurry', (world) => onTab(world, hurry)],
  [2, 'identify', identify],
  [1, 'crash', (world) => onTab(world, (tab) => world.end(tab))],
  [1, 'kill', kill],
  [1, 'clear', clearLocal],
  [1, 'junk', (world) => world.local.set(PREFIX + 'junk', world.pick([null, 'x', { id: 1 }]))],
  [2, 'erase', forgetAll],
  [1, 'erase and leave', eraseAndLeave],
  [1, 'grant', (world, bug) => onTab(world, (tab) => grant(world, tab, bug))],
  [1, 'second thoughts', secondThoughts],
  [1, 'another login', anotherLogin],
  [1, 'there and back', thereAndBack],
  [1, 'taken for gone', takenForGone],
  [0.3, 'weeks', weeksLater],
  [1, 'pause', (world) => onTab(world, (tab) => pause(world, tab))],
  [1, 'online', goOffline],
  [1, 'full', fillLocal],
];

/** How much of each there is in one world: some things happen there all the time, others hardly. */
function moodOf(world: World): readonly number[] {
  return ACTS.map(([weight]) => weight * world.pick([0.2, 1, 1, 1, 5]));
}

function act(world: World, mood: readonly number[], bug: Bug | undefined): void {
  let ticket = world.random() * mood.reduce((sum, weight) => sum + weight, 0);
  for (const [index, [, name, run]] of ACTS.entries()) {
    ticket -= mood[index]!;
    if (ticket >= 0) {
      continue;
    }
    world.log.push(name);
    world.now++;
    run(world, bug);
    return;
  }
}

function onTab(world: World, run: (tab: ModelTab) => void): void {
  const tabs = world.tabs.filter(({ isFrozen }) => !isFrozen);
  if (tabs.length) {
    run(world.pick(tabs));
  }
}

function hurry({ queue }: ModelTab): void {
  queue.until = 0;
}

function pause(world: World, { queue }: ModelTab): void {
  queue.isPaused = world.chance(0.5);
}

function goOffline(world: World): void {
  world.isOnline = world.chance(0.6);
}

function fillLocal(world: World): void {
  world.isLocalFull = world.chance(0.4);
}

function tick({ queue }: ModelTab): void {
  protocol.tick(queue);
}

function start(world: World, bug: Bug | undefined): void {
  if (world.tabs.length >= 4) {
    return;
  }
  const tab = openTab(world, bug, world.chance(0.85));
  if (world.chance(0.7)) {
    tab.queue.email = world.pick(EMAILS);
  }
  if (world.chance(0.9)) {
    startPage(world, tab, bug);
  }
}

/** Consent is an option of the page: no denial is undone by it. */
function startPage(world: World, tab: ModelTab, bug: Bug | undefined): void {
  const isFirst = !tab.queue.isStarted;
  protocol.start(tab.queue);
  if (isFirst) {
    begin(world, tab, bug);
  }
}

function grant(world: World, tab: ModelTab, bug: Bug | undefined): void {
  grantAll(world, tab, bug);
  startPage(world, tab, bug);
}

let count = 0;

function track(world: World): void {
  onTab(world, (tab) => {
    const { queue } = tab;
    protocol.sweep(queue);
    if (isDenied(queue.decisions)) {
      return;
    }
    const id = `${PREFIX}${1e6 + ++count}`;
    const record = recordOf(world, tab, id);
    world.truths.set(id, {
      id,
      at: record.at,
      email: record.email,
      accepted: 0,
      sent: 0,
      unanswered: 0,
      // What was decided where this tab cannot know of it, it obeys once it does: a denial, or an
      // erasure that is later by a clock that was set back.
      isErased: isDeadBy(record.at, everywhere(world)),
      maySurvive: false,
      // Where neither tabs nor the database answer, nothing can tell whose an old event is.
      mayRepeat:
        (!world.settings.hasChannel || world.wasMistaken) && world.settings.database !== 'healthy',
      mayBeLost: false,
      mayChange: false,
    });
    protocol.take(queue, { record, phase: Phase.Waiting, until: 0, size: 0 });
  });
}

function identify(world: World): void {
  onTab(world, ({ queue }) => {
    const email = world.pick(EMAILS);
    for (const { record } of queue.entries) {
      const truth = world.truths.get(record.id);
      const owner = copyOf(world, record.id)?.owner;
      const isForeign = !!owner && owner !== queue.owner;
      if (!truth || record.email || isForeign) {
        continue;
      }
      truth.email ??= email;
      // Another tab may be taking it over, and bind it first.
      if (!world.settings.hasChannel || world.wasMistaken) {
        truth.mayChange = true;
      }
    }
    protocol.identify(queue, email);
  });
}

function leave(world: World, bug: Bug | undefined): void {
  onTab(world, (tab) => {
    const { queue } = tab;
    exit(world, tab, bug);
    if (world.chance(0.4) && queue.isStarted) {
      tab.isFrozen = true;
    } else {
      world.end(tab);
    }
  });
}

/** As the page does with `pagehide`. */
function exit(world: World, tab: ModelTab, bug: Bug | undefined): void {
  const { queue } = tab;
  const isWithinSite = world.chance(0.4);
  queue.isWithinSite = isWithinSite;
  if (bug === 'hands over before it knows of a denial') {
    queue.isConsentKnown = true;
  }
  if (bug === 'a clear undoes an erasure') {
    Object.assign(queue, { saveDecisions: () => undefined });
  }
  const unsent = memoryToSend(world, tab);
  const stored = new Set(queue.entries.filter(({ isStored }) => isStored));
  const waiting = new Set(queue.entries.filter(({ phase }) => phase === Phase.Waiting));
  const sent = world.requests.length;
  const copy = queue.copyOf;
  if (bug === 'exit without ownership check') {
    // Whatever the store says, the tab takes the event for its own.
    Object.assign(queue, {
      copyOf: (id: string) => queue.entries.find(({ record }) => record.id === id)?.record,
    });
  }
  queue.isWithinSite &&= bug !== 'hands over within the site';
  // Its own transactions that wait are given up.
  protocol.leave(queue);
  Object.assign(queue, { copyOf: copy, isWithinSite });
  checkExit(world, tab, { unsent, stored, waiting, requests: world.requests.slice(sent) });
  // What this page must know it has written back.
  if (queue.isDurable || isDenied(tab.mustKnow)) {
    world.mustHold.local = latest(world.mustHold.local, tab.mustKnow);
  }
  tab.isListening = false;
}

/** What ends with the page, unless it is handed over. */
function memoryToSend(world: World, tab: ModelTab): number {
  const { queue, memory } = tab;
  const isOver = (until: number) => until <= world.now || until > world.now + 3e5;
  const isReady =
    queue.isConsentKnown &&
    queue.isStarted &&
    !isDenied(latest(queue.decisions, world.localDecisions)) &&
    !queue.isPaused &&
    world.isOnline &&
    isOver(queue.until) &&
    isOver(world.waitOf(tab).hold);
  return queue.entries.filter(
    ({ phase, record, until }) =>
      isReady &&
      memory &&
      phase !== Phase.Sent &&
      record.email &&
      isOver(until) &&
      !isDeadBy(record.at, latest(queue.decisions, world.localDecisions)) &&
      !protocol.isExpired(queue, record),
  ).length;
}

interface Left {
  readonly unsent: number;
  /** What was stored when the page was left, and what was not about to be sent. */
  readonly stored: ReadonlySet<Entry>;
  readonly waiting: ReadonlySet<Entry>;
  readonly requests: readonly ModelRequest[];
}

/** A page that was left owns nothing, and hands over what the next page would not find, no more. */
function checkExit(world: World, tab: ModelTab, { unsent, stored, waiting, requests }: Left): void {
  const { queue, memory } = tab;
  const isOwned = queue.entries.some(({ record, isStored }) => {
    return isStored && !memory && copyOf(world, record.id)?.owner === queue.owner;
  });
  if (isOwned) {
    world.fail('a page that was left still owns events');
  }
  const isKept = queue.isWithinSite && !memory;
  if (isKept && requests.some(({ entry }) => stored.has(entry))) {
    world.fail('what the next page of the site finds is handed over');
  }
  if (mustWait(world, tab) && requests.some(({ entry }) => waiting.has(entry))) {
    world.fail('an exit does not wait as the service has asked');
  }
  if (unsent > requests.length && queue.room >= 3000 && requests.length < 20) {
    world.fail('what ends with the page is not handed over');
  }
  // From now on no failure of a request proves anything.
  world.requests.forEach((request) => {
    request.isExit ||= request.tab === tab;
  });
}

/** The visitor denies and grants, and goes on in any tab before the stores have it. */
function secondThoughts(world: World, bug: Bug | undefined): void {
  onTab(world, (tab) => erase(world, tab, 'denied', bug));
  if (world.chance(0.5)) {
    catchUp(world);
  }
  onTab(world, (tab) => grant(world, tab, bug));
  goOn(world);
}

/** A logout in one tab and a login in any, after which it sends. */
function anotherLogin(world: World, bug: Bug | undefined): void {
  onTab(world, (tab) => erase(world, tab, 'erased', bug));
  identify(world);
  goOn(world);
}

/** A page is left for another site and shown again, while its requests end somehow. */
function thereAndBack(world: World, bug: Bug | undefined): void {
  onTab(world, (tab) => {
    if (!tab.queue.isStarted) {
      return;
    }
    exit(world, tab, bug);
    tab.isFrozen = true;
    for (let turn = 0; turn < 4; turn++) {
      network(world, bug);
    }
    tab.isFrozen = false;
    tab.queue.isWithinSite = false;
    tab.queue.isConsentKnown = false;
    begin(world, tab, bug);
    catchUp(world);
    hurry(tab);
    tick(tab);
  });
}

/** A tab looks while others are too busy to answer, and one of those is left. */
function takenForGone(world: World, bug: Bug | undefined): void {
  track(world);
  onTab(world, (tab) => look(world, tab, bug));
  catchUp(world);
  leave(world, bug);
}

function goOn(world: World): void {
  track(world);
  onTab(world, hurry);
  onTab(world, tick);
}

/** A logout, or a denial, that is followed by a redirect at once. */
function eraseAndLeave(world: World, bug: Bug | undefined): void {
  onTab(world, (tab) => {
    erase(world, tab, world.chance(0.6) ? 'erased' : 'denied', bug);
    if (world.chance(0.5)) {
      clearLocal(world);
    }
    exit(world, tab, bug);
    world.end(tab);
  });
}

/** Every tab is closed, and the visitor comes back after a while. */
function weeksLater(world: World, bug: Bug | undefined): void {
  for (const tab of [...world.tabs]) {
    if (!tab.isFrozen) {
      exit(world, tab, bug);
    }
    world.end(tab);
  }
  world.now += 20 * 864e5;
  start(world, bug);
}

function comeBack(world: World, bug: Bug | undefined): void {
  const frozen = world.tabs.filter(({ isFrozen }) => isFrozen);
  if (!frozen.length) {
    return;
  }
  const tab = world.pick(frozen);
  tab.isFrozen = false;
  tab.queue.isWithinSite = false;
  tab.queue.isConsentKnown = false;
  begin(world, tab, bug);
}

function passTime(world: World): void {
  const jump = world.random();
  if (jump < 0.5) {
    world.now += 1000;
  } else if (jump < 0.85) {
    world.now += 70_000;
  } else if (jump < 0.95) {
    world.now += 400_000;
  } else if (jump < 0.98) {
    world.now -= 500_000;
  } else {
    world.now += 30 * 36e5;
  }
}

/** The power fails: localStorage forgets its last writes, and nobody waits for the database. */
function kill(world: World): void {
  const pending = new Set(world.transactions.flatMap(({ ids }) => ids));
  // Or what was decided is in localStorage alone, which had not reached the disk.
  const wasErased =
    world.transactions.length > 0 ||
    isAhead(world.localDecisions, latest(world.diskDecisions, world.databaseDecisions));
  for (const tab of [...world.tabs]) {
    world.end(tab);
  }
  world.transactions = [];
  world.requests = world.requests.filter(() => world.chance(0.5));
  world.local = new Map(world.disk);
  world.forgetWait();
  world.localDecisions = world.diskDecisions;
  world.mustHold.local = world.mustHold.disk;
  for (const truth of world.truths.values()) {
    const isKnown = world.database.has(truth.id) || copyOf(world, truth.id);
    if (!isKnown) {
      truth.mayBeLost = true;
    }
    if (pending.has(truth.id) || world.settings.database !== 'healthy') {
      truth.mayRepeat = true;
      // What was to be taken back as never sent counts as sent.
      truth.mayBeLost = true;
      // The count of its tries is lost as well.
      truth.unanswered = 0;
    }
    if (wasErased || world.settings.database !== 'healthy') {
      truth.mayChange = true;
      truth.maySurvive = true;
      // Its mark was erased with it.
      truth.mayRepeat ||= truth.isErased;
    }
  }
}

/** Another script of the page clears localStorage. */
function clearLocal(world: World): void {
  // A grant that IndexedDB does not have yet is forgotten if its tab ends: the denial stands.
  const isGrantAtRisk = isAhead(world.localDecisions, world.databaseDecisions);
  world.local.clear();
  world.forgetWait();
  world.localDecisions = NONE;
  world.mustHold.local = NONE;
  // What is noted as handed over is on its way, and what is in memory alone hears of no erasure.
  for (const { record, phase, isStored } of world.tabs.flatMap(({ queue }) => queue.entries)) {
    const truth = world.truths.get(record.id);
    if (truth && (phase === Phase.Marking || !isStored)) {
      truth.maySurvive = true;
    }
  }
  const pending = new Set(world.transactions.flatMap(({ ids }) => ids));
  for (const truth of world.truths.values()) {
    // A killed browser has left the only copy here.
    if (isGrantAtRisk || (!pending.has(truth.id) && !world.database.has(truth.id))) {
      truth.mayBeLost = true;
    }
    if (world.settings.database === 'healthy') {
      continue;
    }
    truth.mayRepeat = true;
    truth.mayBeLost = true;
    truth.maySurvive = true;
    truth.mayChange = true;
  }
}

function forgetAll(world: World, bug: Bug | undefined): void {
  onTab(world, (tab) => {
    erase(world, tab, world.chance(0.6) ? 'erased' : 'denied', bug);
  });
}

/** One request goes on: it arrives, or its answer does, or something fails. */
function network(world: World, bug: Bug | undefined): void {
  if (!world.requests.length) {
    return;
  }
  const request = world.pick(world.requests);
  const { truth } = request;
  if (!request.isAccepted && world.chance(0.75)) {
    accept(world, request);
    return;
  }
  const roll = world.random();
  const isBad = world.settings.network !== 'fair' && world.chance(0.8);
  const isSilent = isBad && world.settings.network === 'silent';
  const isBroken = isBad && world.settings.network === 'broken';
  if (request.isAccepted) {
    if (roll < 0.85 && !isBad) {
      answer(world, request, 200, bug);
    }
    // The service took it, but the page cannot know: a repeat that the document names.
    else if ((roll < 0.95 && !isBroken) || isSilent) {
      if (truth.sent < 3) {
        truth.mayRepeat ||= !request.isExit;
      }
      answer(world, request, 0, bug);
    } else {
      if (truth.sent < 3) {
        truth.mayRepeat = true;
      }
      answer(world, request, 500, bug);
    }
  } else {
    const statuses = [0, 0, 500, 503, 429, 429, 401, 404, 400, 302, -1];
    answer(world, request, isSilent ? 0 : isBroken ? 500 : world.pick(statuses), bug);
  }
}

function accept(world: World, request: ModelRequest): void {
  const { truth, email } = request;
  request.isAccepted = true;
  truth.accepted++;
  truth.email ??= email;
  if (email !== truth.email && !truth.mayChange) {
    world.fail(`${truth.id} of ${truth.email} is sent for ${email}`);
  }
  const { delivery } = world.settings;
  if (delivery === 'no-duplicates' && truth.accepted > 1 && !truth.mayRepeat) {
    world.fail(`${truth.id} is accepted ${truth.accepted} times`);
  }
}

function answer(world: World, request: ModelRequest, status: number, bug: Bug | undefined): void {
  world.requests = world.requests.filter((other) => other !== request);
  const { tab, entry, truth } = request;
  const { delivery } = world.settings;
  if (status === 400) {
    truth.end ??= 'rejected';
    truth.isRefused = true;
  }
  world.callbacks.push({
    tab,
    run: () => {
      if (status === 429) {
        world.lastTooMany = world.now;
      }
      if (bug === 'a failure at exit is tried again') {
        entry.isExit = false;
      }
      if (bug === 'no end of tries' || (bug === 'a 500 is tried for ever' && status === 500)) {
        entry.record = { ...entry.record, tries: 0 };
      }
      const isOpen = status === 500 || (status === 0 && !request.isExit);
      const isTried = isOpen && tab.queue.entries.includes(entry);
      if (isTried) {
        truth.unanswered++;
      }
      answered(tab.queue, entry, { status });
      // Where neither tabs nor the database answer, two tabs may each try it.
      const isOne =
        (world.settings.hasChannel && !world.wasMistaken) || world.settings.database === 'healthy';
      const isKept = isOne && tab.queue.entries.includes(entry) && delivery === 'no-duplicates';
      if (isKept && truth.unanswered >= 3) {
        world.fail(`${truth.id} is tried for ever`);
      }
      if (bug === 'a 500 holds all tabs' && status === 500) {
        tab.queue.pauseAllTabs(world.now + 5000);
      }
    },
  });
}

/** The weather clears: everything that can be sent must be sent now. */
function calmDown(world: World, bug: Bug | undefined): void {
  world.isOnline = true;
  world.isLocalFull = false;
  const calm = () => {
    for (let turn = 0; turn < 60; turn++) {
      for (const tab of world.tabs) {
        tab.queue.isPaused = false;
        if (!tab.queue.email) {
          protocol.identify(tab.queue, world.pick(EMAILS));
        }
        if (tab.queue.life === Life.Open) {
          look(world, tab, bug);
        }
      }
      settleDown(world, bug, turn < 20);
      world.now += 61_000;
      if (turn > 6 && isQuiet(world)) {
        return;
      }
    }
  };
  for (const tab of [...world.tabs]) {
    if (tab.isFrozen || tab.queue.life !== Life.Open) {
      world.end(tab);
    }
  }
  calm();
  for (const tab of [...world.tabs]) {
    world.end(tab);
  }
  settleDown(world, bug);
  const last = openTab(world, bug);
  last.queue.email = 'ann@example.com';
  startPage(world, last, bug);
  calm();
  judgeStores(world, last);
}

function settleDown(world: World, bug: Bug | undefined, isEarly = false): void {
  const isBad = isEarly && world.settings.network !== 'fair';
  const failure = world.settings.network === 'broken' ? 500 : 0;
  for (let turn = 0; turn < 400; turn++) {
    while (world.transactions.length) {
      world.transact();
    }
    while (world.callbacks.length) {
      world.answer();
    }
    for (const request of [...world.requests]) {
      if (!request.isAccepted && !isBad) {
        accept(world, request);
      }
      answer(world, request, request.isAccepted ? 200 : failure, bug);
    }
    for (const tab of world.tabs) {
      protocol.tick(tab.queue);
    }
    if (!world.transactions.length && !world.callbacks.length && !world.requests.length) {
      return;
    }
  }
  world.fail('never comes to rest');
}

const isQuiet = ({ tabs, local, database, settings }: World): boolean => {
  const copies = newest([
    ...database.values(),
    ...([...local.values()].filter((copy) => (copy as StoredRecord | null)?.version) as []),
  ]);
  const isInherited = settings.hasLocks || settings.database !== 'absent';
  return tabs.every(({ queue }) => {
    const isLeft = isInherited && copies.some((copy) => protocol.isAlive(queue, copy));
    return isDenied(queue.decisions) || (!queue.entries.length && !isLeft);
  });
};

/** What the stores must not hold in the end: anything that was erased or denied. */
function judgeStores(world: World, { queue }: ModelTab): void {
  // Without either nothing is read that others left.
  if (world.settings.database === 'absent' && !world.settings.hasLocks) {
    return;
  }
  const { local, database } = world;
  const copies = [
    ...local.values(),
    ...(world.settings.database === 'healthy' ? database.values() : []),
  ];
  for (const copy of copies as (StoredRecord | null)[]) {
    if (copy?.event && isDeadBy(copy.at, queue.decisions)) {
      world.fail(`${copy.id} is kept after its erasure or denial`);
    }
  }
}

/** What any store or tab knows: by the books, and in fact. */
const everywhere = ({
  mustHold,
  told,
  tabs,
  localDecisions,
  databaseDecisions,
}: World): Decisions =>
  [
    told,
    mustHold.local,
    mustHold.database,
    localDecisions,
    databaseDecisions,
    ...tabs.flatMap(({ mustKnow, queue }) => [mustKnow, queue.decisions]),
  ].reduce(latest);

const isDeadBy = (at: number, { erasedAt, deniedAt, grantedAt }: Decisions): boolean =>
  at <= erasedAt || (deniedAt > 0 && deniedAt >= grantedAt);

/** What must be true in the end. */
function judge(world: World): void {
  if (world.tabs.some(({ queue }) => isDenied(queue.decisions) && queue.entries.length)) {
    world.fail('events are kept that were denied');
  }
  // A denial stands: nothing that is left is owed.
  if (world.tabs.some(({ queue }) => isDenied(queue.decisions))) {
    return;
  }
  for (const truth of world.truths.values()) {
    const { accepted, isErased, end, mayBeLost } = truth;
    if (accepted || isErased || mayBeLost || isNamed(world, truth)) {
      continue;
    }
    world.fail(`${truth.id} is lost${end ? ` (${end})` : ''}`);
  }
  for (const { queue } of world.tabs) {
    if (queue.entries.length) {
      world.fail(`${queue.entries.length} events wait for nothing`);
    }
  }
}

const isNamed = ({ now }: World, { end, at }: Truth): boolean =>
  end !== undefined || now - at > 864e5;
