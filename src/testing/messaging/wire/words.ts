import type { FakeRequest } from '../../core/types.js';
import type { MessagingBehavior } from '../../behavior/messaging.js';
import { asJson, mapJson } from '../../wire/json.js';

/** An answer with the states and types that the document does not show, in this world's words. */
export function withWords(body: unknown, endpoint: string, behavior: MessagingBehavior): unknown {
  const { stateWords, eventNames } = behavior;
  if (stateWords === 'upper' && eventNames === 'dotted') {
    return body;
  }
  return mapJson(asJson(body), (value, name) => {
    const kind = kindOf(endpoint, name);
    return kind === undefined || typeof value !== 'string' ? value : say(value, kind, behavior);
  });
}

/** The same words in the filters of a query, as the handlers know them. */
export function withOwnWords(
  request: FakeRequest,
  endpoint: string,
  behavior: MessagingBehavior,
): FakeRequest {
  const query = new URLSearchParams();
  for (const [name, value] of request.query) {
    const kind = kindOf(endpoint, name);
    query.append(name, kind === undefined ? value : ownWord(value, kind, behavior));
  }
  return { ...request, query };
}

type Kind = 'state' | 'event';

function kindOf(endpoint: string, name: string): Kind | undefined {
  if (name === 'status' && /\/(campaigns|workflows|activity|analytics)/.test(endpoint)) {
    return 'state';
  }
  return /^types?$/.test(name) && endpoint.startsWith('GET /activity') ? 'event' : undefined;
}

function say(word: string, kind: Kind, behavior: MessagingBehavior): string {
  if (kind === 'state') {
    return stateWord(word, behavior.stateWords);
  }
  return behavior.eventNames === 'snake_case' ? word.replaceAll('.', '_') : word;
}

/** Only the states beyond those that the document names. */
function stateWord(word: string, style: MessagingBehavior['stateWords']): string {
  const other = others[word];
  if (other === undefined || style === 'upper') {
    return word;
  }
  return style === 'lower' ? word.toLowerCase() : other;
}

const others: Readonly<Record<string, string | undefined>> = {
  SENT: 'DELIVERED',
  CANCELLED: 'CANCELED',
  RUNNING: 'ACTIVE',
  WAITING: 'PAUSED',
  COMPLETED: 'DONE',
  FAILED: 'ERROR',
};

const eventTypes = [
  'event.tracked',
  'email.sent',
  'email.opened',
  'email.clicked',
  'email.bounced',
];

function ownWord(value: string, kind: Kind, behavior: MessagingBehavior): string {
  const known = kind === 'state' ? Object.keys(others) : eventTypes;
  return known.find((word) => say(word, kind, behavior) === value) ?? value;
}
