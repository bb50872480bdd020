import { readdirSync, readFileSync } from 'node:fs';
import { MessagingClient, type ImportAllOptions } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';

const folder = new URL('files/', import.meta.url);

interface Imported {
  readonly columns?: ImportAllOptions['columns'];
  readonly newContacts?: 'subscribed' | 'unsubscribed';
  /** The data of some contacts by their names before the at sign, `null` for one that is not there. */
  readonly contacts: Readonly<Record<string, object | null>>;
  readonly done: number;
  /** The messages of the failed rows. */
  readonly failed?: readonly string[];
  readonly warnings?: readonly string[];
}

/** Files as people export them; the people are invented. */
const imported: Readonly<Record<string, Imported>> = {
  'excel-csv-utf8.csv': {
    done: 2,
    contacts: { 'zoe.martin': { 'First Name': 'Zoé', City: 'Orléans' }, juergen: { City: 'Köln' } },
  },
  'excel-german-semicolons.csv': { done: 2, contacts: { bjoern: { Vorname: 'Björn' }, lea: {} } },
  'excel-unicode-text.txt': {
    columns: { zip: 'postcode' },
    done: 2,
    contacts: { mila: { Name: 'Mila Novák', postcode: '01234' }, omar: { Name: 'Omar Şahin' } },
  },
  'excel-sep-line.csv': { done: 1, contacts: { ida: { Company: 'Berg; Söhne' } } },
  'excel-trailing-columns.csv': { done: 2, contacts: { ana: { Name: 'Ana' }, ben: {} } },
  'excel-booleans.csv': {
    newContacts: 'unsubscribed',
    done: 3,
    contacts: { ann: { Plan: 'pro' }, bob: { Plan: 'free' }, cid: {} },
  },
  'google-contacts.csv': {
    columns: { 'E-mail 1 - Value': 'email', 'First Name': 'firstName', 'E-mail 1 - Label': null },
    done: 2,
    contacts: { 'grace.osei': { firstName: 'Grace' }, 'taro.sato': { 'Last Name': 'Sato' } },
  },
  'google-sheets.csv': {
    done: 2,
    contacts: { nina: { name: 'Nina "Nini" Ruiz', seats: 12 }, kwame: { seats: 3 } },
  },
  'outlook.csv': {
    columns: { notes: null },
    done: 2,
    contacts: { priya: { Company: 'Raman, Iyer & Co', 'Home Street': '12 Lake Road\nFlat 3' } },
  },
  'mailchimp.csv': {
    done: 2,
    warnings: ['The field `OPTIN_TIME` has a date in a form that no date filter finds'],
    contacts: { hana: { TAGS: '"Customer","Beta"', MEMBER_RATING: 2 }, raul: {} },
  },
  'hubspot.csv': {
    done: 2,
    contacts: { 'ivy.chan': { 'First Name': 'Ivy' } },
    warnings: ['The field `Create Date` has a date in a form that no date filter finds'],
  },
  'klaviyo.csv': {
    columns: { 'Email Marketing Consent': 'subscribed' },
    done: 1,
    contacts: { maya: {}, finn: null },
    failed: ['line 3: must be one of true, yes, y, 1, subscribed, false, no, n, 0, unsubscribed'],
  },
  'brevo.csv': {
    columns: { EMAIL_BLACKLISTED: 'blocked' },
    done: 2,
    contacts: { julie: { FIRSTNAME: 'Julie' }, marc: {} },
  },
  'sendgrid.csv': { done: 2, contacts: { ela: { CITY: 'Izmir' }, max: {} } },
  'shopify-customers.csv': {
    columns: { 'Accepts Email Marketing': 'subscribed', 'Customer ID': 'customer' },
    done: 2,
    contacts: { rosa: { customer: "'7001" }, eli: { Note: 'Asked for a refund\nof order 12' } },
  },
  'woocommerce.csv': {
    columns: { id: null },
    done: 2,
    contacts: { nora: { billing_email: 'nora@example.com' } },
  },
  'salesforce-report.csv': {
    done: 2,
    contacts: { uma: { Phone: '555-0101', 'Phone 2': '555-0102' } },
    warnings: ['The column "Phone" occurs more than once: one of them is imported as "Phone 2".'],
  },
  'stripe-customers.csv': {
    done: 1,
    contacts: { lou: { 'plan (metadata)': 'pro' } },
    failed: ['line 3: must be an email address'],
    warnings: [
      'The column `id` is a reserved field, which the service drops',
      'The field `Created (UTC)` has a date in a form that no date filter finds',
    ],
  },
  'eventbrite.csv': { done: 2, contacts: { ana: { Quantity: 2 } } },
  'one-stray-quote.csv': {
    done: 2,
    contacts: { ann: { note: 'fine' }, bob: null },
    failed: ['line 3: a quoted field has text after its closing quote'],
  },
  'one-comma-too-many.csv': {
    done: 2,
    contacts: { ann: { name: 'Ann' }, bob: { name: 'Bob, Jr.' }, cid: null },
    failed: ['line 4: it has 3 fields; the header has 2'],
  },
  'header-only.csv': {
    done: 0,
    contacts: {},
    warnings: ['The CSV file has a header and no rows below it'],
  },
  'copied-from-the-web.csv': {
    done: 1,
    contacts: { bob: { name: 'Bob' } },
    failed: ['line 2: must be an email address, without the invisible character U+200B'],
  },
  'utf-16-big-endian.csv': { done: 1, contacts: { yuki: { Name: '雪' } } },
  'pipes.csv': { done: 1, contacts: { gus: { city: 'Oslo' } } },
};

/** Files that cannot be read for certain, and what the refusal says to do. */
const refused: Readonly<Record<string, string>> = {
  'excel-german-windows-1252.csv': 'Save it as "CSV UTF-8"',
  'excel-macintosh.csv': 'Save it as "CSV UTF-8"',
  'people.xlsx': 'It is an Excel workbook (.xlsx) or another archive. Save it as "CSV UTF-8"',
  'phpmyadmin.csv': 'There is no column `email`. Name yours',
  'typeform.csv': 'The columns are "#", "What is your email?", "What is your name?"',
};

function scene() {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient(fake.options);
  const warnings: string[] = [];
  messaging.on('warning', ({ message }) => warnings.push(message));
  return { fake, messaging, warnings };
}

const bytesOf = (name: string) => new Uint8Array(readFileSync(new URL(name, folder)));

it('each file of the folder has a test', () => {
  const tried = [...Object.keys(imported), ...Object.keys(refused)];
  expect(readdirSync(folder).sort()).toEqual(tried.sort());
  expect(tried.length).toBeGreaterThan(20);
});

describe('a file from another program', () => {
  it.each(Object.entries(imported))('%s is imported', async (name, wanted) => {
    const { fake, messaging, warnings } = scene();
    const { columns, newContacts = 'subscribed', failed = [] } = wanted;
    const report = await messaging.contacts.importAll([bytesOf(name)], { columns, newContacts });
    expect(report.failed.map(({ error }) => (error as Error).message)).toEqual(
      failed.map((text) => expect.stringContaining(text) as string),
    );
    expect(report).toMatchObject({ done: wanted.done, unknown: [] });
    const [upload] = fake.requests
      .map(({ body }) => body)
      .filter((body) => body instanceof FormData);
    const [header] = ((await (upload?.get('file') as File | undefined)?.text()) ?? 'none').split(
      '\n',
    );
    expect(header?.split(',')).not.toContain(''); // a column without a name
    const contacts = [...fake.project.contacts.values()];
    for (const [person, data] of Object.entries(wanted.contacts)) {
      const found = contacts.find(({ email }) => email.startsWith(`${person}@`));
      expect(found?.data ?? null).toEqual(data && expect.objectContaining(data));
    }
    expect(warnings).toEqual(
      (wanted.warnings ?? []).map((text) => expect.stringContaining(text) as string),
    );
  });

  it('has its address and its consent, whatever the case of the names in `columns`', async () => {
    const { fake, messaging } = scene();
    const columns = { Mail: 'Email', Newsletter: ' SUBSCRIBED ' };
    await messaging.contacts.importAll(['Mail,Newsletter\nann@example.com,no\n'], { columns });
    expect([...fake.project.contacts.values()]).toMatchObject([
      { email: 'ann@example.com', subscribed: false, data: {} },
    ]);
  });

  it('that is not CSV is rejected with a sentence, which does not show its content', async () => {
    const { messaging } = scene();
    const message = await messaging.contacts
      .import(new Uint8Array(1_000_000).fill(97))
      .then(String, (error: unknown) => String(error));
    expect(message).toContain('There is no column `email`');
    expect(message.length).toBeLessThan(500);
  });

  it.each(Object.entries(refused))('%s is rejected before a request', async (name, words) => {
    const { fake, messaging } = scene();
    for (const call of [
      messaging.contacts.importAll([bytesOf(name)]),
      messaging.contacts.import(bytesOf(name)),
    ]) {
      await expect(call).rejects.toMatchObject({
        name: 'InvalidRequestError',
        outcome: 'not-sent',
        message: expect.stringContaining(words) as string,
      });
    }
    expect(fake.requests).toEqual([]);
  });

  it('says who is subscribed: in Excel’s words, and for rows without a value', async () => {
    const { fake, messaging } = scene();
    await messaging.contacts.importAll([bytesOf('excel-booleans.csv')], { subscribed: false });
    const states = [...fake.project.contacts.values()].map((contact) => contact.subscribed);
    expect(states).toEqual([true, false, false]);
  });

  it.each([
    ['excel-german-semicolons.csv', 'its fields are not separated by commas alone'],
    ['excel-unicode-text.txt', 'it is UTF-16LE, not UTF-8'],
    ['excel-booleans.csv', 'line 2: `subscribed` is neither true nor false'],
    ['excel-sep-line.csv', 'its fields are not separated by commas alone'],
    ['mailchimp.csv', 'its column of addresses is not called `email`'],
    ['salesforce-report.csv', 'a column comes twice'],
    ['one-stray-quote.csv', 'line 3: a quoted field has text after its closing quote'],
  ])('contacts.import(%s) is rejected if the service could misread it', async (name, words) => {
    const { fake, messaging } = scene();
    const call = messaging.contacts.import(bytesOf(name));
    await expect(call).rejects.toThrow(words);
    await expect(call).rejects.toThrow('`contacts.importAll()` takes it as it is');
    expect(fake.requests).toEqual([]);
  });

  it('contacts.import() sends a correct file byte for byte', async () => {
    const { fake, messaging } = scene();
    const { jobId } = await messaging.contacts.import(bytesOf('google-sheets.csv'));
    await messaging.contacts.waitForImport(jobId);
    expect(fake.project.contacts.size).toBe(2);
  });
});
