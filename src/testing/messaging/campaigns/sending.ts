import { deliver } from '../emails/outbox.js';
import { matches } from '../segments/filter.js';
import { membersOf } from '../segments/members.js';
import type { Campaign, Contact, Scope, SentEmail } from '../state.js';

/** The throttle's values are not shown: so many mails at once, the next ones a second later. */
const batchSize = 1000;
const betweenBatchesMs = 1000;

/** Sends at a time of the clock; a time that is over means now (not shown). */
export function schedule(scope: Scope, campaign: Campaign, at: number): void {
  const scheduledAt = new Date(at).toISOString();
  campaign.status = 'SCHEDULED';
  campaign.scheduledAt = scheduledAt;
  scope.world.clock.after(Math.max(0, at - scope.world.clock.now()), () => {
    const current = scope.project.campaigns.get(campaign.id);
    if (current?.status !== 'SCHEDULED' || current.scheduledAt !== scheduledAt) {
      return;
    }
    startSending(scope, current);
  });
}

/** SENDING with the first mails out at once, and SENT a second after the last ones. */
export function startSending(scope: Scope, campaign: Campaign): void {
  campaign.status = 'SENDING';
  sendBatch(scope, campaign, audienceOf(scope, campaign));
}

/** Mails a campaign to one contact. */
export function mailTo(
  scope: Scope,
  campaign: Campaign,
  { contact, source }: { readonly contact: Contact; readonly source: 'campaign' | 'test' },
): SentEmail {
  const { id, from, fromName, replyTo, subject, body } = campaign;
  return deliver(scope, {
    to: contact,
    from,
    ...(fromName !== undefined && { fromName }),
    ...(replyTo !== undefined && { replyTo }),
    subject,
    body,
    variables: contact.data,
    source,
    sourceId: id,
  });
}

function sendBatch(scope: Scope, campaign: Campaign, recipients: readonly Contact[]): void {
  for (const contact of recipients.slice(0, batchSize)) {
    // Who has left since the start gets nothing.
    if (!contact.subscribed || !scope.project.contacts.has(contact.id)) {
      continue;
    }
    mailTo(scope, campaign, { contact, source: 'campaign' });
  }
  const rest = recipients.slice(batchSize);
  scope.world.clock.after(betweenBatchesMs, () => {
    // A cancelled campaign sends no more.
    if (campaign.status !== 'SENDING') {
      return;
    }
    if (rest.length > 0) {
      sendBatch(scope, campaign, rest);
    } else {
      campaign.status = 'SENT';
    }
  });
}

/** Who has unsubscribed is left out (not shown). */
function audienceOf(scope: Scope, campaign: Campaign): Contact[] {
  return contactsOf(scope, campaign).filter(({ subscribed }) => subscribed);
}

function contactsOf(scope: Scope, { audienceType, segmentId, audienceFilter }: Campaign) {
  const { contacts, segments } = scope.project;
  if (audienceType === 'ALL') {
    return [...contacts.values()];
  }
  if (audienceType === 'FILTERED') {
    return [...contacts.values()].filter((contact) => matches(scope, contact, audienceFilter));
  }
  const segment = segments.get(segmentId ?? '');
  return segment === undefined ? [] : membersOf(scope, segment);
}
