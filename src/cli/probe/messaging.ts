import type { messagingBehaviors } from 'postreel/testing';
import {
  ask,
  fieldsOf,
  inside,
  isRefusal,
  itemsOf,
  statusOf,
  type Answer,
  type Target,
} from './ask.js';
import { errorShapeOf, sharedHabits, type Seen } from './habits.js';

/** The questions, all of them reads. */
export const messagingQuestions = [
  '/contacts?limit=100',
  '/contacts?limit=1',
  '/contacts/probe_nobody',
  '/templates?limit=1',
  '/campaigns?limit=1',
  '/campaigns?limit=100',
  '/segments',
  '/events?limit=100',
  '/events?limit=100&startDate=2999-01-01T00:00:00.000Z',
  '/activity/types',
  '/users/@me',
] as const;

type Question = (typeof messagingQuestions)[number];
type Answers = Readonly<Record<Question, Answer>>;

const lists = ['/contacts?limit=100', '/templates?limit=1', '/campaigns?limit=1', '/segments'];

/** One record of each list, by the id that the list gives; a service without records has none. */
export function recordQuestions(answers: Readonly<Record<string, Answer>>): string[] {
  return lists.flatMap((list) => {
    const id = itemsOf(answers[list]?.json).items[0]?.['id'];
    const path = list.replace(/\?.*/, '');
    return isId(id) ? [`${path}/${encodeURIComponent(id)}`] : [];
  });
}
type Behavior = Seen<typeof messagingBehaviors>;

/** Finds out which world a messaging service is. Nothing that it holds is kept. */
export async function probeMessaging(target: Target): Promise<Behavior> {
  const answers = (await askAll(target, messagingQuestions)) as Answers; // entries lose their names
  if (isRefusal(answers['/contacts?limit=1'])) {
    throw new Error(
      'The service refuses the key of MESSAGING_API_KEY. Check it, then probe again.',
    );
  }
  const records = await askAll(target, recordQuestions(answers));
  const all = [...Object.values(answers), ...Object.values(records)];
  return {
    ...recordsOf(answers, Object.values(records)),
    ...listsOf(answers),
    ...refusalsOf(answers),
    ...(all.some(({ wasCut }) => wasCut) && { cutAnswers: 'some-reads' }),
  };
}

async function askAll(
  target: Target,
  questions: readonly string[],
): Promise<Record<string, Answer>> {
  const entries: [string, Answer][] = [];
  for (const question of questions) {
    const answer = await ask(target, question);
    if (statusOf(answer) === 429) {
      throw new Error(
        'The service answers 429: its rate limit is used up. Wait a minute, then probe again.',
      );
    }
    entries.push([question, answer]);
  }
  return Object.fromEntries(entries);
}

const isId = (id: unknown): id is string | number =>
  typeof id === 'string' || typeof id === 'number';

function refusalsOf(answers: Answers): Behavior {
  const missing = answers['/contacts/probe_nobody'];
  const shape = errorShapeOf(missing);
  const shared = sharedHabits(answers['/contacts?limit=1'], missing);
  return {
    ...shared,
    ...(shared.refusals === 'status' && {
      errorShape: shape === 'error' ? 'bare' : messageless(shape),
    }),
    ...accessStyle(answers['/users/@me']),
  };
}

function accessStyle(answer: Answer): Behavior {
  if (!isRefusal(answer)) {
    return { accountAccess: 'key-or-session' };
  }
  return [401, 403].includes(statusOf(answer)) ? { accountAccess: 'session' } : {};
}

const messageless = (shape: Exclude<ReturnType<typeof errorShapeOf>, 'error'>) =>
  shape === 'message' ? 'bare' : shape;

function recordsOf(answers: Answers, records: readonly Answer[]): Behavior {
  const contacts = itemsOf(answers['/contacts?limit=100'].json).items;
  const [contact] = contacts;
  const [campaign] = itemsOf(answers['/campaigns?limit=1'].json).items;
  const [event] = itemsOf(answers['/events?limit=100'].json).items;
  const states = itemsOf(answers['/campaigns?limit=100'].json).items.map(({ status }) => status);
  const isEnveloped = [answers['/contacts?limit=100'], ...records].some(
    ({ json }) => fieldsOf(json)['success'] === true,
  );
  const dataOf = contacts.find(({ data }) => data === null || data === undefined);
  return {
    ...(contact?.['id'] !== undefined && { ids: idStyle(contact['id']) }),
    ...(contact?.['createdAt'] !== undefined && { dates: dateStyle(contact['createdAt']) }),
    ...(contact !== undefined && { extraFields: extraStyle(contact) }),
    ...(campaign !== undefined && { unset: unsetStyle(campaign) }),
    ...(isEnveloped && { envelopes: 'always' }),
    ...(dataOf !== undefined && { emptyData: 'data' in dataOf ? 'null' : 'missing' }),
    ...(event !== undefined && { openFields: openStyle(event) }),
    ...stateStyle(states),
    ...nameStyle(answers['/activity/types']),
  };
}

function nameStyle(answer: Answer): Behavior {
  const text = isRefusal(answer) ? '' : (answer.text ?? '');
  if (/"[a-z]+_[a-z_]+"/.test(text)) {
    return { eventNames: 'snake_case' };
  }
  return /"[a-z]+\.[a-z.]+"/.test(text) ? { eventNames: 'dotted' } : {};
}

function listsOf(answers: Answers): Behavior {
  const contacts = itemsOf(answers['/contacts?limit=100'].json);
  const templates = itemsOf(answers['/templates?limit=1'].json);
  const ended = [answers['/campaigns?limit=100'], answers['/segments']].find(isWhole);
  const last = fieldsOf(inside(ended?.json));
  const template = fieldsOf(inside(answers['/templates?limit=1'].json));
  const isEvery = answers['/events?limit=100&startDate=2999-01-01T00:00:00.000Z'];
  const events = itemsOf(answers['/events?limit=100'].json).items;
  return {
    listStyle: listStyle(
      contacts.name,
      templates.name,
      fieldsOf(inside(answers['/contacts?limit=1'].json)),
    ),
    ...(Object.keys(last).length === 0 || 'totalPages' in last
      ? { lastPage: 'hasMore' in template ? 'hasMore-false' : 'cursor-null' }
      : endStyle(last)),
    ...(!('total' in fieldsOf(inside(answers['/contacts?limit=1'].json))) && { totals: 'absent' }),
    ...(!isRefusal(answers['/templates?limit=1']) && {
      templatePaging: 'cursor' in template ? 'cursor' : 'page',
    }),
    // Without events both ways of a service look the same.
    ...(events.length > 0 &&
      !isRefusal(isEvery) && {
        periods: itemsOf(isEvery.json).items.length === 0 ? 'startDate' : 'ignored',
      }),
  };
}

/** Does this first page of a list hold all of it? */
function isWhole({ json }: Pick<Answer, 'json'>): boolean {
  const { total, hasMore, cursor } = fieldsOf(inside(json));
  const leadsOn = hasMore ?? (typeof cursor === 'string' && cursor !== '');
  return leadsOn !== true && !(typeof total === 'number' && total > itemsOf(json).items.length);
}

function idStyle(id: unknown) {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(String(id)) ? 'uuid' : 'text';
}

function dateStyle(date: unknown) {
  const text = String(date);
  if (/[+-]\d\d:\d\d$/.test(text)) {
    return 'offset';
  }
  return /:\d\dZ$/.test(text) ? 'seconds' : 'milliseconds';
}

const contactFields = ['id', 'email', 'subscribed', 'data', 'createdAt', 'updatedAt', '_meta'];

function extraStyle(contact: Record<string, unknown>) {
  const others = Object.entries(contact).filter(([name]) => !contactFields.includes(name));
  if (others.length === 0) {
    return 'none';
  }
  return others.some(([, value]) => typeof value === 'object') ? 'nested' : 'flat';
}

function unsetStyle(campaign: Record<string, unknown>) {
  const values = ['description', 'fromName', 'replyTo'].map((name) => campaign[name]);
  if (values.includes('')) {
    return 'empty';
  }
  return values.includes(null) ? 'null' : 'missing';
}

function openStyle(event: Record<string, unknown>) {
  return 'name' in event || 'contactId' in event ? 'ours' : 'absent';
}

function stateStyle(states: readonly unknown[]): Behavior {
  const shown = ['DRAFT', 'SCHEDULED', 'SENDING'];
  const other = states.find((state) => typeof state === 'string' && !shown.includes(state));
  if (typeof other !== 'string') {
    return {};
  }
  const isUpper = other === other.toUpperCase();
  return { stateWords: isUpper ? (other === 'SENT' ? 'upper' : 'other') : 'lower' };
}

function listStyle(contacts: string, templates: string, page: Record<string, unknown>) {
  if (contacts === '') {
    return 'array';
  }
  if (contacts === 'results') {
    return 'results';
  }
  if (contacts === 'data') {
    return templates === 'data' ? 'cursor' : 'documented';
  }
  return 'totalPages' in page ? 'page' : 'named';
}

function endStyle(last: Record<string, unknown>): Behavior {
  if ('hasMore' in last) {
    return { lastPage: 'hasMore-false' };
  }
  if (!('cursor' in last)) {
    return { lastPage: 'cursor-absent' };
  }
  return { lastPage: last['cursor'] === null ? 'cursor-null' : 'cursor-empty' };
}
