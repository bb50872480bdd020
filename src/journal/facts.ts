/**
 * What may be written about one attempt to hand in a job or an email. Each fact has a key of its own
 * and never written with two meanings, so facts may arrive in any order, late, or twice.
 */
export const factNames = [
  /** A process is about to hand it in. The first claim stands. */
  'claim',
  /** The call of the claim that stands certainly did nothing. */
  'refused',
  /** The service took it. */
  'accepted',
  /** The caller says that the service took it. */
  'resolved',
  /** Its file is finished, has failed, or was canceled. */
  'done',
  'failed',
  'canceled',
  /** Its file is stored. */
  'saved',
  /** The caller does not care for it any more. */
  'dismissed',
] as const;

/**
 * A claim whose own write had no answer was given up: should it still come, it counts for nothing.
 * Several processes may say so of one attempt, each of a claim of its own.
 */
export type GivenUp = `refused-${string}`;

export type FactName = (typeof factNames)[number] | GivenUp;

/** The fact that the claim with this id was given up. */
export function givenUp(claim: string): GivenUp {
  return `refused-${claim}`;
}

/** The value of a fact: what was known, and when by the store's clock. */
export interface Fact {
  readonly at: number;
}

/** The first word about an attempt. */
export interface Claim extends Fact {
  /** One of a kind, and part of a key: a claim that is made again finds itself. */
  readonly id: string;
  /** The call that hands it in, with others. */
  readonly call: string;
  /** Its place in the call. */
  readonly place: number;
  /** The fingerprint of the content. */
  readonly print: string;
  /** Which project hands it in. */
  readonly owner: string;
  /** The content, until the service has answered. */
  readonly content?: unknown;
}

/** The service's answer. */
export interface Accepted extends Fact {
  readonly record: unknown;
}

/** A call that certainly did nothing. */
export interface Refused extends Fact {
  /** The claim that stood: a refusal that comes late says nothing about another one. */
  readonly claim?: string;
}

/** What is known of one attempt. */
export interface Facts {
  readonly claim?: Claim;
  readonly refused?: Refused;
  readonly accepted?: Accepted;
  readonly resolved?: Accepted;
  readonly done?: Fact;
  readonly failed?: Fact;
  readonly canceled?: Fact;
  readonly saved?: Fact;
  readonly dismissed?: Fact;
  readonly [refusal: GivenUp]: Fact;
}

/** What the facts of an attempt come to. */
export type AttemptState =
  | { readonly state: 'free' }
  /** It was not handed in: the next attempt may be. */
  | { readonly state: 'refused' }
  /** It is being handed in, or it is unknown whether it was. */
  | { readonly state: 'claimed'; readonly claim: Claim }
  | { readonly state: 'accepted'; readonly record: unknown; readonly end: AttemptEnd | undefined };

export type AttemptEnd = 'done' | 'failed' | 'canceled' | 'saved' | 'dismissed';

// A failure stays one, whatever is said later.
const ends: readonly AttemptEnd[] = ['failed', 'canceled', 'saved', 'dismissed', 'done'];

/** The one reading of a set of facts. An answer outweighs a refusal: ids may come late. */
export function stateOf(facts: Facts): AttemptState {
  const answer = facts.accepted ?? facts.resolved;
  if (answer) {
    return { state: 'accepted', record: answer.record, end: ends.find((end) => facts[end]) };
  }
  if (refusalIn(facts) || facts.dismissed) {
    return { state: 'refused' };
  }
  return facts.claim ? { state: 'claimed', claim: facts.claim } : { state: 'free' };
}

// A claim that was never written may have been refused: then the attempt is still free.
function refusalIn(facts: Facts): Fact | undefined {
  const { refused, claim } = facts;
  if (refused && (refused.claim === undefined || refused.claim === claim?.id)) {
    return refused;
  }
  return claim && facts[givenUp(claim.id)];
}

/** Since when an attempt is settled; `undefined` while it is not. */
export function settledAt(facts: Facts): number | undefined {
  const settled = stateOf(facts);
  if (settled.state === 'refused') {
    return (refusalIn(facts) ?? facts.dismissed)?.at;
  }
  if (settled.state !== 'accepted' || settled.end === undefined || settled.end === 'done') {
    return undefined;
  }
  return facts[settled.end]?.at;
}
