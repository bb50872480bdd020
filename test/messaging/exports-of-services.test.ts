import { MessagingClient, type ImportAllOptions } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';

const yesIsOut = {
  field: 'subscribed',
  read: (text: string) => ['', 'no', 'false', '0'].includes(text.toLowerCase()),
};
const emptyIsIn = { field: 'subscribed', read: (text: string) => text === '' };
const statusIn = (...words: readonly string[]) => ({
  field: 'subscribed',
  read: (text: string) => words.includes(text.toLowerCase()),
});

interface Export {
  readonly text: string;
  /** The columns that say who has left. */
  readonly columns: NonNullable<ImportAllOptions['columns']>;
}

/** Exports with the columns that the help pages of the services name. Ann reads the mails, Bob has left. */
const exports: Readonly<Record<string, Export>> = {
  ActiveCampaign: {
    text: 'Email,First Name,Tags,Status,Date Created\nann@example.com,Ann,vip,Active,2026-01-01\nbob@example.com,Bob,,Unsubscribed,2026-01-01\n',
    columns: { Status: statusIn('active') },
  },
  Mailchimp: {
    text: 'Email Address,First Name,MEMBER_RATING,OPTIN_TIME,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_REASON,LEID\nann@example.com,Ann,4,2026-01-04 10:11:12,,,,11\nbob@example.com,Bob,2,2026-01-05 10:11:12,2026-02-01 08:00:00,News,Other,12\n',
    columns: { UNSUB_TIME: emptyIsIn, UNSUB_REASON: null },
  },
  Brevo: {
    text: 'CONTACT ID;EMAIL;FIRSTNAME;SMS;EMAIL_BLACKLISTED;ADDED_TIME\n7;ann@example.com;Ann;;0;2026-01-01\n8;bob@example.com;Bob;;1;2026-01-01\n',
    columns: { EMAIL_BLACKLISTED: yesIsOut },
  },
  HubSpot: {
    text: '"Record ID","First Name","Email","Unsubscribed from all email","Opted out of email: Marketing Information"\n"1","Ann","ann@example.com","false",""\n"2","Bob","bob@example.com","true","true"\n',
    columns: {
      'Unsubscribed from all email': yesIsOut,
      'Opted out of email: Marketing Information': null,
    },
  },
  Klaviyo: {
    text: 'Email,Klaviyo ID,First Name,Email Marketing Consent,Email Marketing Consent Timestamp\nann@example.com,01A,Ann,SUBSCRIBED,\nbob@example.com,01B,Bob,UNSUBSCRIBED,\n',
    columns: { 'Email Marketing Consent': 'subscribed' },
  },
  'Lemon Squeezy': {
    text: 'identifier,name,email,status,email_sends,unsubscribed_at,created_at\na1,Ann,ann@example.com,subscribed,3,,2026-01-01\nb2,Bob,bob@example.com,unsubscribed,3,2026-02-01 08:00:00,2026-01-01\n',
    columns: { unsubscribed_at: emptyIsIn },
  },
  Kit: {
    text: 'id,first_name,email_address,state,created_at\n1,Ann,ann@example.com,active,2026-01-01\n2,Bob,bob@example.com,cancelled,2026-01-01\n',
    columns: { state: statusIn('active') },
  },
  MailerLite: {
    text: 'Email,Name,Status,Subscribed at,Unsubscribed at\nann@example.com,Ann,Active,2026-01-01,\nbob@example.com,Bob,Unsubscribed,2026-01-01,2026-02-01\n',
    columns: { Status: statusIn('active'), 'Unsubscribed at': null },
  },
  'rasa.io': {
    text: 'ID,First Name,Email,Subscribed,Unsubscribe Reason\n1,Ann,ann@example.com,1,\n2,Bob,bob@example.com,0,Unsubscribed\n',
    columns: { 'Unsubscribe Reason': null },
  },
  Shopify: {
    text: 'First Name,Email,Accepts Email Marketing,Total Orders,Accepts SMS Marketing\nAnn,ann@example.com,yes,3,no\nBob,bob@example.com,no,0,no\n',
    columns: { 'Accepts Email Marketing': 'subscribed' },
  },
};

/** Imports an export, and returns who is subscribed then, or why it was refused. */
async function imported(text: string, options?: ImportAllOptions) {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient(fake.options);
  const refusal = await messaging.contacts.importAll([text], options).then(() => undefined, String);
  const states = [...fake.project.contacts.values()].map(({ email, subscribed }) => [
    email.replace(/@.*/, ''),
    subscribed,
  ]);
  return { refusal, states: Object.fromEntries(states) as Record<string, boolean> };
}

describe('an export of another service', () => {
  it.each(Object.entries(exports))(
    'of %s is rejected unchanged, with its columns, and subscribes nobody who has unsubscribed',
    async (_, { text }) => {
      const { refusal, states } = await imported(text);
      expect(states['bob']).not.toBe(true);
      const header = text.split('\n')[0]?.split(/[,;]/) ?? [];
      for (const name of header) {
        expect(refusal).toContain(`"${name.replaceAll('"', '')}"`);
      }
    },
  );

  it('of ActiveCampaign fails in the rows of unsubscribed people, with `newContacts` alone', async () => {
    const text = exports['ActiveCampaign']?.text ?? '';
    const { refusal, states } = await imported(text, { newContacts: 'subscribed' });
    expect({ refusal, states }).toEqual({ refusal: undefined, states: { ann: true } });
  });

  it.each(Object.entries(exports).filter(([name]) => !['ActiveCampaign', 'Kit'].includes(name)))(
    'of %s is rejected with `newContacts` alone',
    async (_, { text }) => {
      const { refusal, states } = await imported(text, { newContacts: 'subscribed' });
      expect(refusal).toMatch(/The column ".+" says who is subscribed, or who is not/);
      expect(states).toEqual({});
    },
  );

  it.each(Object.entries(exports))(
    'of %s is imported with the column that says who has unsubscribed',
    async (_, { text, columns }) => {
      const { refusal, states } = await imported(text, { columns });
      expect(refusal).toBeUndefined();
      expect(states).toEqual({ ann: true, bob: false });
    },
  );
});
