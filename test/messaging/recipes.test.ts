import { readFileSync } from 'node:fs';
import { MessagingClient } from 'postreel';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** A fake that programs find by their environment. */
function found(): FakeMessaging {
  const fake = createFakeMessaging();
  vi.stubEnv('MESSAGING_API_KEY', fake.secretKey);
  vi.stubEnv('MESSAGING_BASE_URL', fake.baseUrl);
  vi.stubEnv('OPT_IN_SECRET', 'the secret of the tests');
  vi.stubEnv('UNSUBSCRIBE_SECRET', 'the secret of the tests');
  vi.stubGlobal('fetch', fake.fetch);
  vi.spyOn(console, 'log').mockReturnValue(undefined);
  return fake;
}

const stateOf = (fake: FakeMessaging, email: string) =>
  [...fake.project.contacts.values()].find((contact) => contact.email === email)?.subscribed;

it('one-click unsubscribe: each recipient has a separate link, and only a POST to it unsubscribes them', async () => {
  const fake = found();
  const { linkFor, unsubscribe } = await import('../../examples/27-one-click-unsubscribe.js');
  expect(fake.outbox.map(({ to }) => to).sort()).toEqual(['ann@example.com', 'bea@example.com']);
  for (const { to, headers } of fake.outbox) {
    expect(headers['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click');
    expect(headers['List-Unsubscribe']).toBe(`<${linkFor(to)}>`);
    expect(linkFor(to)).toMatch(/^https:\/\/[^<>\s]+$/);
  }
  expect(new Set(fake.outbox.map(({ headers }) => headers['List-Unsubscribe'])).size).toBe(2);
  expect(stateOf(fake, 'ann@example.com')).toBe(false);

  const email = 'bea@example.com';
  await new MessagingClient(fake.options).contacts.subscribe(email);
  const link = linkFor(email);
  const shown = await unsubscribe(new Request(link));
  expect([await shown.text(), stateOf(fake, email)]).toEqual([
    expect.stringContaining('<form'),
    true,
  ]);
  const forged = link.replace('bea%40', 'cid%40');
  expect((await unsubscribe(new Request(forged, { method: 'POST' }))).status).toBe(400);
  expect((await unsubscribe(new Request(link, { method: 'POST' }))).status).toBe(200);
  expect(stateOf(fake, email)).toBe(false);
});

it('double opt-in: nobody is subscribed before the click, with any tracked event', async () => {
  const fake = found();
  const { confirm, linkFor, signUp } = await import('../../examples/28-double-opt-in.js');
  expect(stateOf(fake, 'new.reader@example.com')).toBe(true); // has clicked

  const email = 'slow.reader@example.com';
  await signUp(email);
  expect(stateOf(fake, email)).toBe(false);
  expect(fake.outbox.at(-1)).toMatchObject({ to: email, subject: 'Please confirm' });
  expect([...fake.project.events.values()].map(({ name }) => name)).toContain(
    'newsletter.requested',
  );
  const link = linkFor(email);
  await confirm(new Request(link)); // a scanner of links
  expect(stateOf(fake, email)).toBe(false);
  const other = link.replace('slow', 'fast');
  expect((await confirm(new Request(other, { method: 'POST' }))).status).toBe(400);
  await confirm(new Request(link, { method: 'POST' }));
  expect(stateOf(fake, email)).toBe(true);

  const mailed = fake.outbox.length;
  await signUp(email); // again: they stay on the list
  expect([stateOf(fake, email), fake.outbox.length]).toEqual([true, mailed]);
});

it.each([
  ['summer', '2027-06-20T22:30:00Z', '2027-06-22T09:00:00+02:00'],
  ['winter', '2027-01-20T23:30:00Z', '2027-01-22T09:00:00+01:00'],
  ['the night in which the clocks go back', '2027-10-30T22:30:00Z', '2027-11-01T09:00:00+01:00'],
  ['the night before they go forward', '2027-03-26T23:30:00Z', '2027-03-28T09:00:00+02:00'],
])('tomorrow at nine is meant in Berlin, also at 00:30 there in %s', async (_, now, at) => {
  found();
  const { tomorrowAt } = await import('../../examples/11-schedule-a-campaign.js');
  expect(tomorrowAt('09:00', 'Europe/Berlin', new Date(now))).toBe(at);
  // The page teaches the same function.
  expect(readFileSync('docs/campaigns.md', 'utf8')).toContain(tomorrowFunction());
});

function tomorrowFunction(): string {
  const code = readFileSync('examples/11-schedule-a-campaign.ts', 'utf8');
  return /function tomorrowAt[\s\S]*?\n}\n/.exec(code)?.[0] ?? 'no function in the example';
}
