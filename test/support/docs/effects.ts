import type { FakeMedia, FakeMessaging } from 'postreel/testing';
import { expect } from 'vitest';

/** What is left of a program, once it has run. */
export interface Left {
  readonly fake: FakeMessaging;
  readonly media: FakeMedia;
  /** The lines that it printed. */
  readonly lines: readonly string[];
  /** The names of the files in its folder. */
  readonly files: readonly string[];
  /** The contact with this email. */
  readonly contact: (email: string) => ReturnType<typeof contactIn>;
  /** The endpoints of its requests, in their order for each service. */
  readonly asked: readonly unknown[];
  /** The bodies of the calls of an endpoint. */
  readonly bodies: (endpoint: string) => unknown[];
  /** Runs the same program once more, and returns the lines of that run. */
  readonly again: () => Promise<readonly string[]>;
}

type Effect = (left: Left) => void | Promise<void>;

/** What a program does, and how it is run. */
export interface Program {
  readonly has: Effect;
  /** Lines that use what the program only defines or exports. */
  readonly use?: string;
  /** It belongs into a web page. */
  readonly isPage?: true;
}
export type Row = Effect | Program;

export const contactIn = (fake: FakeMessaging, email: string) =>
  [...fake.project.contacts.values()].find((one) => one.email === email);
const named = <Item extends { readonly name: string }>(items: Map<string, Item>, name: string) =>
  [...items.values()].filter((item) => item.name === name);
const mails = ({ outbox }: FakeMessaging) =>
  outbox.map(({ to, subject, body }) => [to, subject, body]);
const events = ({ project }: FakeMessaging) => project.events.map(({ name }) => name);
const ann = 'ann@example.com';

/** The files that were made and paid for, by what they were made of. */
const made = ({ files }: FakeMedia) =>
  files.map(({ settings }) => settings['prompt'] ?? settings['content']);
/** The names of the files in the folder that were saved. */
const saved = (files: readonly string[]) => files.filter((name) => /\.mp[34]$/.test(name));

/** The program defines what another program uses: it asks neither service. */
const asksNothing: Effect = ({ asked }) => expect(asked).toEqual([]);
/** A file with tests for Node's test runner. */
const passes =
  (count: number): Effect =>
  ({ lines, asked }) => {
    expect(lines.join('\n')).toMatch(new RegExp(`pass ${count}\\n`));
    expect(asked).toEqual([]);
  };
/** A good morning that is made, and paid for, once. */
const speaks: Effect = ({ media }) => expect(made(media)).toEqual(['Good morning!']);

/** At the end of a page: what waits is sent. */
const flushed = `
await tracker.flush();
process.exit();`;
/** A page behind the proxy sends an event, and prints the status of the response. */
const collected = (headers = '{}') => `
const event = new Request('https://shop.example/collect/v1/track', {
  method: 'POST',
  headers: { 'content-type': 'application/json', ...${headers} },
  body: JSON.stringify({ email: 'ann@example.com', event: 'viewed' }),
});
console.log((await POST(event)).status);`;
/** Two calls whose responses are lost, and a person who looks for their files. */
const decided = `
import { createFakeMedia } from 'postreel/testing';
import { MediaClient, memoryJournal } from 'postreel';
const fake = createFakeMedia();
const client = new MediaClient({ ...fake.options, journal: memoryJournal() });
const say = (once) => client.generate.audio({ content: once, voiceId: 'voice_1' }, { once });
fake.fail('POST /v1/generate/audio', { loseAnswer: true, times: 2 });
for (const once of ['seen', 'unseen']) console.log((await say(once).safe()).error.outcome);
await decide(client);
const { unknown } = await client.journal.pending();
await found(client, unknown[0].id, [fake.files[0].fileId]);
await missing(client, unknown[1].id);
for (const once of ['seen', 'unseen']) console.log((await say(once)).fileId);`;
/** A callback of the service to a signed URL, and the status of the response. */
const calledBack = (inbox: string) => `
const callBack = async (url, id = 'file_1') => {
  const body = JSON.stringify({ success: true, data: { id, file: 'https://cdn.example/' + id } });
  const { status } = await ${inbox}.fetch(new Request(url, { method: 'POST', body }));
  console.log(status);
};`;

/** What each program of a page does, in their order. */
export const effects: Readonly<Record<string, Row | readonly Row[]>> = {
  'README.md': [
    ({ fake, contact, lines }) => {
      expect(lines).toEqual([`sent to ${ann}`]);
      expect(mails(fake)).toEqual([[ann, 'Your order is on its way', '<p>Hello Ann!</p>']]);
      expect(events(fake)).toEqual(['ordered']);
      expect(contact(ann)?.data).toMatchObject({ name: 'Ann', plan: 'pro' });
    },
    ({ media, files, lines }) => {
      expect(made(media)).toEqual(['cats', 'dogs', 'birds']);
      expect(saved(files)).toHaveLength(3);
      expect(lines[0]).toBe('making 3 videos');
      const ends = ['birds is saved', 'cats is saved', 'dogs is saved'];
      expect(lines.slice(1).sort()).toEqual(ends);
    },
    {
      isPage: true,
      use: flushed,
      has: ({ bodies }) =>
        expect(bodies('POST /v1/track')).toEqual([
          { email: ann, event: 'viewed_pricing', data: { plan: 'pro' } },
        ]),
    },
    passes(2),
  ],
  'examples/01-send.ts': ({ fake, contact, lines }) => {
    expect(mails(fake)).toEqual([[ann, 'Your order is on its way', '<p>Hello Ann!</p>']]);
    expect(contact(ann)?.data).toHaveProperty('lastOrder');
    expect(lines).toEqual([expect.stringMatching(/^ann@example\.com got \S+$/)]);
  },
  'examples/02-send-a-template.ts': ({ fake, contact }) => {
    const body = '<p>Hello Ann, your code is 493 201.</p>';
    expect(mails(fake)).toEqual([[ann, 'Your code is 493 201', body]]);
    expect(contact(ann)?.data).not.toHaveProperty('code');
    expect(named(fake.project.templates, 'Sign-in code')).toHaveLength(1);
  },
  'examples/03-verify.ts': ({ lines }) => {
    expect(lines[0]).toBe(`${ann}: ok`);
    expect(lines.join('\n')).toMatch(/bea@gmial\.com: (?!ok)[\s\S]*another domain/);
    expect(lines.at(-1)).toMatch(/^cem@mailinator\.com: (?!ok)/);
  },
  'examples/04-track.ts': ({ fake, contact, lines }) => {
    expect(events(fake)).toEqual(['order.paid']);
    expect(contact(ann)?.data).toMatchObject({ total: 42, currency: 'EUR' });
    expect(lines.join('\n')).toContain("'order.paid'");
  },
  'examples/05-upsert-contacts.ts': ({ contact, lines }) => {
    expect(lines).toEqual([`${ann} updated`, 'new@example.com created']);
    expect(contact(ann)?.data).toMatchObject({ plan: 'pro' });
    expect(contact('new@example.com')?.data).toEqual({ plan: 'free' });
  },
  'examples/06-custom-fields.ts': ({ contact, lines }) => {
    const data = contact(ann)?.data;
    expect(data).toMatchObject({ seats: 8, renewsAt: '2027-03-01T00:00:00.000Z' });
    expect(data).not.toHaveProperty('nickname');
    expect(lines.join('\n')).toMatch(/data\.seats/);
  },
  'examples/07-import-a-csv.ts': ({ contact }) => {
    expect(contact('dee@example.com')).toMatchObject({ subscribed: true, data: { plan: 'pro' } });
    expect(contact('evi@example.com')?.data).toEqual({ plan: 'free' });
  },
  'examples/08-iterate-a-list.ts': ({ lines }) => {
    expect(lines.join('\n')).toMatch(/'pro' => 41/);
    expect(lines.slice(-2)).toEqual(['5 of 122', 'no events yet']);
  },
  'examples/09-resume-a-list.ts': async ({ lines, again }) => {
    expect([lines[0], lines.length]).toEqual(['from the start', 41]);
    const next = await again();
    expect([next[0], next.length]).toEqual([expect.stringMatching(/^from \S+$/), 41]);
    expect(next.filter((line) => lines.includes(line))).toEqual([]);
  },
  'examples/10-campaign.ts': ({ fake, lines }) => {
    const [test, ...others] = fake.outbox;
    expect(test).toMatchObject({ to: 'shop@example.com', subject: 'Spring is here' });
    const readers = [...fake.project.contacts.values()].filter(({ subscribed }) => subscribed);
    expect(others.map(({ to }) => to).sort()).toEqual(readers.map(({ email }) => email).sort());
    expect(lines).toContain('SENT');
  },
  'examples/11-schedule-a-campaign.ts': ({ fake, lines }) => {
    expect(lines[0]).toMatch(/^SCHEDULED \S+/);
    const all = [...fake.project.campaigns.values()];
    expect(all.at(-1)).toMatchObject({ name: 'Tomorrow', status: 'CANCELLED' });
    expect(fake.outbox).toEqual([]);
  },
  'examples/12-segment.ts': ({ fake, lines }) => {
    expect(lines).toEqual(['41 pro customers', ann, 'flo@example.com']);
    expect(named(fake.project.segments, 'Guests')[0]?.members.size).toBe(2);
  },
  'examples/13-workflow.ts': ({ fake, lines }) => {
    expect(lines).toEqual(['WAITING']); // test/docs/workflows.test.ts moves the clock
    const [welcome] = named(fake.project.workflows, 'Welcome');
    expect([welcome?.enabled, welcome?.executions.size]).toEqual([true, 1]);
  },
  'examples/14-errors.ts': ({ contact, lines }) => {
    expect(lines[0]).toMatch(/^404 rejected \S+$/);
    expect(lines.slice(1)).toEqual([
      'the address is taken',
      expect.stringMatching(/^email must be an email address/),
    ]);
    expect(contact(ann)).toMatchObject({ id: 'con_1' });
  },
  'examples/15-abort-and-deadline.ts': ({ asked, lines }) => {
    expect(asked).toEqual(['GET /contacts']);
    expect(lines[0]).toMatch(/^ABORTED Error: The visitor has left\./);
    expect(lines.at(-1)).toBe("the call's outcome: not-sent");
  },
  'examples/16-video.ts': ({ media, files, lines }) => {
    expect(media.files).toMatchObject([{ settings: { aspectRatio: '9:16', duration: 1 } }]);
    expect(saved(files)).toEqual([`${media.files[0]?.fileId}.mp4`]);
    expect(lines.at(-1)).toMatch(/^saved /);
  },
  'examples/17-audio.ts': ({ media, files }) => {
    expect(made(media)).toEqual(['Good morning from Postreel!']);
    expect(saved(files)).toEqual([`${media.files[0]?.fileId}.mp3`]);
  },
  'examples/18-test-with-the-fake.ts': passes(2),
  'examples/19-test-with-msw.ts': passes(2),
  'examples/20-rate-limit-and-events.ts': ({ bodies, lines }) => {
    expect(bodies('POST /v1/verify')).toHaveLength(12);
    expect(lines.filter((line) => /^200 \d+$/.test(line))).toHaveLength(12);
    expect(lines.join('\n')).toMatch(/^4 waiting, about \d+ ms$/m);
  },
  'examples/21-audio-callback-express.ts': ({ media, lines }) => {
    const [file] = media.files;
    expect(media.callbacks).toMatchObject([{ fileId: file?.fileId, status: 204 }]);
    expect(lines).toEqual([`${file?.fileId} ${file?.download}`]);
  },
  'examples/22-hundred-videos.ts': ({ media, lines }) => {
    expect(new Set(made(media)).size).toBe(100);
    expect(media.files).toHaveLength(100);
    expect(lines.at(-1)).toMatch(/^100 videos, the first is http/);
  },
  'examples/23-resume-after-a-crash.ts': ({ media, files }) => {
    const topics = ['Why cats purr', 'Why dogs bark', 'Why birds sing'];
    expect(made(media)).toEqual(topics);
    expect(saved(files)).toEqual(topics.map((topic) => `${topic}.mp4`).sort());
  },
  'examples/24-workflow-as-code.ts': asksNothing,
  'examples/25-contacts-from-a-database.ts': ({ contact, lines }) => {
    expect(contact('gil@example.com')).toMatchObject({
      subscribed: true,
      data: { plan: 'team' },
    });
    expect(contact('ida@example.com')).toMatchObject({ subscribed: false });
    expect(lines.slice(0, 2)).toEqual(['synced 2 rows', 'synced 2 rows']);
  },
  'examples/26-newsletter.ts': ({ fake, lines }) => {
    const readers = [...fake.project.contacts.values()].filter(
      ({ subscribed, data }) => subscribed && data['plan'] === 'pro',
    );
    expect(fake.outbox.map(({ to }) => to).sort()).toEqual(
      readers.map(({ email }) => email).sort(),
    );
    expect(new Set(fake.outbox.map(({ subject }) => subject))).toEqual(new Set(['News for pro']));
    expect(lines).toContain('now SENT');
  },
  'examples/27-one-click-unsubscribe.ts': ({ fake, contact, lines }) => {
    expect(fake.outbox.map(({ to }) => to).sort()).toEqual([ann, 'bea@example.com']);
    const headers = { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
    expect(fake.outbox).toMatchObject([{ headers }, { headers }]);
    expect([contact(ann)?.subscribed, contact('bea@example.com')?.subscribed]).toEqual([
      false,
      true,
    ]);
    expect(lines.at(-1)).toBe('You are unsubscribed.');
  },
  'examples/28-double-opt-in.ts': ({ fake, contact, lines }) => {
    expect(fake.outbox).toMatchObject([{ to: 'new.reader@example.com' }]);
    expect(contact('new.reader@example.com')?.subscribed).toBe(true);
    expect(lines).toEqual(['Welcome!']);
  },
  'examples/29-deploy-a-workflow.ts': ({ fake, lines }) => {
    expect(mails(fake)).toEqual([[ann, 'Welcome Ann', '<p>Good to have you.</p>']]);
    expect([...fake.project.workflows.values()].map(({ enabled }) => enabled)).toEqual([true]);
    expect(lines[0]).toBe('flowchart TD');
    expect(lines.at(-1)).toMatch(/^deployed Onboarding/);
  },
  // test/examples/welcome.processes.test.ts has the nights after a lost response and a kill.
  'examples/30-welcome-once.ts': async ({ fake, lines, again }) => {
    expect(lines.join('\n')).toMatch(/201 201\n[\s\S]*isWelcomed: true/);
    await again();
    expect(fake.outbox.map(({ to }) => to)).toEqual(['nora@example.com']);
  },
  'docs/emails.md': [
    ({ fake, contact }) => {
      const subject = 'Your order is on its way';
      expect(mails(fake)).toEqual([
        [ann, subject, '<p>Hello Ann!</p>'],
        ['bea@example.com', subject, '<p>Hello Bea!</p>'],
      ]);
      expect(contact(ann)?.data).toHaveProperty('lastOrder');
    },
    ({ fake, contact }) => {
      expect(mails(fake)).toEqual([[ann, 'Hello Ann', '<p>Hello Ann!</p>']]);
      expect(contact(ann)?.data).toMatchObject({ plan: 'pro' });
    },
    ({ fake }) => {
      const file = { filename: 'invoice.txt', content: btoa('Total: 42') };
      expect(fake.outbox).toMatchObject([{ to: ann, attachments: [file] }]);
    },
    ({ fake }) => expect(fake.outbox).toMatchObject([{ to: ann, headers: { 'X-Order': '1042' } }]),
    async ({ fake, lines, again }) => {
      expect(lines.slice(0, 2).sort()).toEqual([`${ann} sent`, 'bea@example.com sent']);
      expect(lines.at(-1)).toBe('2 [] []');
      const news = [
        [ann, 'News', '<p>Hello Ann!</p>'],
        ['bea@example.com', 'News', '<p>Hello Bea!</p>'],
      ];
      expect(mails(fake).sort()).toEqual(news);
      await again();
      expect(mails(fake).sort()).toEqual(news); // once
    },
    ({ fake, lines }) => {
      const people = [...fake.project.contacts.values()];
      const left = people.filter(({ subscribed }) => !subscribed).length;
      expect(left).toBeGreaterThan(0);
      expect(lines[0]).toBe(`${left} have unsubscribed`);
      expect(fake.outbox).toHaveLength(people.length - left);
    },
    async ({ fake, again }) => {
      await again();
      expect(mails(fake).sort()).toEqual([
        [ann, 'Invoice', '<p>42</p>'],
        [ann, 'Invoice', '<p>7</p>'],
      ]);
    },
    ({ lines }) => expect(lines[0]).toMatch(/^true false \[/),
    ({ lines }) => expect(lines).toEqual([`${ann} true`, 'x@gmial.com false']),
    ({ fake }) => {
      const [invoice, ...copies] = named(fake.project.templates, 'Invoice');
      expect([invoice?.subject, copies]).toEqual(['Invoice {{number}}', []]);
    },
    ({ fake, lines }) => {
      expect(lines).toEqual(['<p>You are on the free plan.</p>']);
      expect(mails(fake)).toEqual([[ann, 'Welcome, Ann', '<p>You are on the pro plan.</p>']]);
    },
    ({ fake }) => {
      expect(mails(fake)).toEqual([[ann, 'Welcome', '<p>Hello &#60;b&#62;Ann&#60;/b&#62;!</p>']]);
    },
  ],
  'docs/contacts.md': [
    ({ contact, lines }) => {
      const data = { plan: 'pro', renewsAt: '2027-03-01T00:00:00.000Z' };
      expect(contact(ann)).toMatchObject({ subscribed: false, data });
      expect(lines).toContain(`${ann} false`);
      expect(lines).toHaveLength(122);
    },
    ({ contact, lines }) => {
      expect(lines).toEqual(['true', 'false']);
      expect(contact('cem@example.com')).toBeUndefined();
    },
    ({ lines }) => expect(lines).toEqual(['con_1']),
    ({ bodies }) => {
      const sizes = bodies('POST /contacts/lookup').map(
        (body) => (body as { emails: string[] }).emails.length,
      );
      expect(sizes).toEqual([500, 500, 200]);
    },
    ({ bodies, contact }) => {
      const changes = [{ subscribed: false }, { subscribed: true }];
      expect(bodies('PATCH /contacts/{id}')).toEqual(changes);
      expect(contact(ann)?.subscribed).toBe(true);
    },
    ({ contact }) => {
      expect(contact('dee@example.com')?.data).toEqual({ plan: 'pro' });
      expect(contact('evi@example.com')?.data).toEqual({ plan: 'free' });
      expect([contact(ann)?.subscribed, contact('bea@example.com')?.subscribed]).toEqual([
        false,
        false,
      ]);
    },
    ({ contact, lines }) => {
      const zoe = contact('zoe@example.com');
      expect(zoe).toMatchObject({ subscribed: false, data: { firstName: 'Zoé', City: 'Paris' } });
      expect(zoe?.data).not.toHaveProperty('Notes');
      expect(lines.join('\n')).toMatch(/1 .*'no address'/s); // the row that failed
      expect(lines.at(-1)).toBe('2 [] []');
    },
    ({ contact }) => {
      expect(contact(ann)?.subscribed).toBe(true);
      expect(contact('bob@example.com')?.subscribed).toBe(false);
    },
    ({ contact }) => {
      expect(contact(ann)?.data).toMatchObject({ signedUpAt: '2026-01-31T10:00:00.000Z' });
    },
    ({ contact }) => expect(contact('zoe@example.com')).toBeDefined(),
    ({ fake, contact }) => {
      expect(contact(ann)?.data).toMatchObject({ renewsAt: '2027-03-01T00:00:00.000Z' });
      expect(contact(ann)?.data).not.toHaveProperty('nickname');
      expect(contact(ann)?.data).not.toHaveProperty('code');
      expect(fake.outbox).toMatchObject([{ to: ann }]);
    },
    ({ bodies }) => expect(bodies('PATCH /contacts/{id}')).toEqual([{ data: { nickname: null } }]),
    ({ fake, contact }) => {
      expect(contact(ann)?.data).toMatchObject({ trialEnds: '2027-04-01T00:00:00.000Z' });
      const condition = { field: 'data.seats', operator: 'greaterThan', value: 5 };
      expect(named(fake.project.segments, 'Larger than pro')).toMatchObject([{ condition }]);
    },
    ({ lines }) => expect(lines.join('\n')).toMatch(/data\.plan string 1\n[\s\S]*'pro'/),
    ({ bodies }) => {
      const [body] = bodies('PATCH /contacts/{id}') as object[];
      expect(body).toMatchObject({ email: ann, subscribed: true, data: { name: 'Ann' } });
      expect(body).not.toHaveProperty('id');
    },
  ],
  'docs/campaigns.md': [
    ({ fake }) => {
      const [spring] = named(fake.project.campaigns, 'Spring').slice(1);
      expect(spring).toMatchObject({ audienceType: 'SEGMENT', status: 'SCHEDULED' });
      expect(fake.outbox).toMatchObject([{ to: 'shop@example.com', subject: 'Spring is here' }]);
    },
    ({ fake }) => {
      const [spring] = named(fake.project.campaigns, 'Spring').slice(1);
      expect(spring).toMatchObject({ audienceType: 'FILTERED', status: 'CANCELLED' });
      expect(fake.outbox.map(({ to }) => to)).toEqual(['shop@example.com']);
    },
    ({ fake, lines }) => {
      const subject = 'Spring is nearly over';
      const all = [...fake.project.campaigns.values()];
      expect(all.at(-1)).toMatchObject({ subject, status: 'SCHEDULED' });
      expect(lines).toEqual([`${subject} []`]);
    },
    ({ fake }) => {
      const { scheduledAt, status } = [...fake.project.campaigns.values()].at(-1) ?? {};
      const berlin = { timeZone: 'Europe/Berlin', timeStyle: 'medium', hour12: false } as const;
      expect(status).toBe('SCHEDULED');
      expect(new Date(scheduledAt ?? '').toLocaleTimeString('en', berlin)).toBe('09:00:00');
    },
    ({ fake, lines }) => {
      expect(named(fake.project.segments, 'Pro customers')).toMatchObject([{ type: 'DYNAMIC' }]);
      expect(lines).toEqual([expect.stringMatching(/^\d+$/), ann, 'flo@example.com']);
      const entries = fake.project.events.filter(({ name }) => /entr|enter/i.test(name));
      expect(entries.length).toBe(Number(lines[0]));
      expect(fake.project.segments.get('seg_vip')?.members).toEqual(new Set(['con_1']));
    },
    ({ fake }) => {
      const [{ condition } = { condition: {} }] = named(fake.project.segments, 'Large trials');
      expect(condition).toMatchObject({ and: [{ operator: 'greaterThan' }, { unit: 'days' }] });
    },
  ],
  'docs/messaging.md': [
    ({ fake, contact, lines }) => {
      expect(mails(fake)).toEqual([[ann, 'Welcome', '<p>Hi!</p>']]);
      expect(fake.project.events).toMatchObject([{ name: 'signed_up' }]);
      expect(contact(ann)?.data).toMatchObject({ plan: 'pro' });
      expect(lines.join('\n')).toContain("plan: 'pro'");
    },
    ({ fake, lines }) => {
      expect(lines.join('\n')).toMatch(/mail\.example\.com[\s\S]*IN\s+(TXT|CNAME)/);
      const domains = [...fake.project.domains.values()].map(({ domain }) => domain);
      expect(domains).not.toContain('mail.example.com');
    },
    ({ lines, bodies }) => {
      expect(lines.join('\n')).toMatch(/https:\/\/\S+\.png/);
      expect(bodies('POST /uploads/image')).toHaveLength(1);
    },
    ({ lines }) => expect(lines.join('\n')).toMatch(/owner@example\.com/),
  ],
  'docs/workflows.md': [
    ({ fake }) => expect(mails(fake)).toEqual([[ann, 'Welcome Ann', '<p>Good to have you.</p>']]),
    ({ fake, lines }) => {
      expect(lines[0]).toMatch(/^1 /);
      expect(lines.join('\n')).toContain("'order.paid'");
      expect(fake.project.events).toEqual([]);
    },
    ({ fake, lines }) => {
      expect(lines).toEqual(['WAITING']);
      expect([...fake.project.workflows.keys(), ...fake.outbox]).toEqual([]);
    },
    ({ fake, lines }) => {
      expect(lines[0]).toBe('flowchart TD');
      expect([...fake.project.workflows.values()].map(({ enabled }) => enabled)).toEqual([true]);
    },
  ],
  'docs/lists.md': [
    ({ lines }) => expect(new Set(lines).size).toBe(122),
    ({ lines }) => expect(lines).toEqual([expect.stringMatching(/^50 122 true \S+$/), '50']),
    ({ lines }) => expect(new Set(lines).size).toBe(122),
    // The sample segment has no members: nobody is deleted.
    ({ fake }) => expect(fake.project.contacts.size).toBe(122),
    ({ lines }) => expect(lines.length).toBeGreaterThanOrEqual(121),
    ({ lines }) => expect(lines).toEqual(['100', '22']),
    ({ lines }) => expect(lines).toEqual(['122']),
  ],
  'docs/clients.md': [
    ({ lines }) => expect(lines).toEqual(['1000 10']),
    ({ bodies }) => expect(bodies('POST /v1/verify')).toEqual([{ email: ann }]),
    ({ asked }) => expect(asked).toEqual(['GET /contacts']),
    ({ asked, lines }) => {
      expect(lines).toHaveLength(1);
      expect(asked.length).toBe(3);
    },
    ({ bodies, contact, lines }) => {
      expect(bodies('PATCH /contacts/{id}')).toEqual([{ data: { plan: '' } }]);
      expect(contact(ann)?.data).toMatchObject({ plan: 'pro' });
      expect(lines.join('\n')).toMatch(/plan[\s\S]*PATCH \/contacts\/con_1 200 \d+/);
    },
    ({ asked, lines }) => expect([asked, lines]).toEqual([['GET /config'], ['']]),
    ({ fake }) => expect(fake.requests).toMatchObject([{ query: { limit: '1' }, status: 200 }]),
    ({ lines }) => expect(lines).toEqual([ann]),
    ({ lines }) => expect(lines).toEqual(['1 of 1000 used, 0 waiting']),
  ],
  'docs/errors.md': [
    ({ fake, lines }) => expect([mails(fake), lines]).toEqual([[[ann, 'Hi', '<p>Hi</p>']], ['']]),
    ({ asked, lines }) => {
      expect(asked).toEqual([]);
      expect(lines[0]).toBe('POST /contacts was not sent: `email` must be an email address.');
      expect(lines[1]).toMatch(/^\{.*"outcome":"not-sent"/);
    },
    ({ lines }) => expect(lines).toEqual(['404 rejected']),
    ({ fake }) => expect(events(fake)).toEqual(['page_viewed']),
    ({ lines }) => expect(lines[0]).toMatch(/^(in time|DEADLINE_EXCEEDED)$/),
    ({ asked, lines }) => {
      expect(asked).toEqual([]);
      expect(lines[0]).toMatch(/^ABORTED Error: The visitor has left\./);
      expect(lines.at(-1)).toMatch(/not-sent$/);
    },
  ],
  'docs/journal.md': [
    async ({ fake, lines, again }) => {
      const receipt = [[ann, 'Your receipt', '<p>42 €</p>']];
      expect(mails(fake)).toEqual(receipt);
      expect(lines).toEqual([expect.stringMatching(/^\S+ true$/)]);
      expect(await again()).toEqual(lines);
      expect(mails(fake)).toEqual(receipt);
    },
    ({ asked, lines }) => expect([asked, lines]).toEqual([[], ['']]), // nothing is unknown
    async ({ media, files, again }) => {
      expect(made(media)).toEqual(['Good morning!']);
      expect(saved(files)).toEqual([]); // the next run saves it
      await again();
      expect(made(media)).toEqual(['Good morning!']);
    },
    async ({ media, files, again }) => {
      expect(made(media)).toEqual(['Good morning!']);
      expect(saved(files)).toEqual([`${media.files[0]?.fileId}.mp3`]);
      await again();
      expect(made(media)).toEqual(['Good morning!']);
    },
    asksNothing,
  ],
  'docs/media.md': [
    async ({ media, files, again }) => {
      expect(made(media)).toEqual(['Why cats purr']);
      expect(saved(files)).toEqual([`${media.files[0]?.fileId}.mp4`]);
      await again();
      expect(made(media)).toEqual(['Why cats purr']);
    },
    ({ asked, lines }) => expect([asked, lines]).toEqual([[], ['']]),
    ({ media, lines }) => {
      expect(made(media).sort()).toEqual(['birds', 'dogs']);
      const files = media.files.map(({ fileId, folderId }) => `${fileId} ${folderId}`);
      expect([...lines].sort()).toEqual(files.sort());
    },
    ({ media, bodies }) => {
      expect(bodies('POST /v1/generate/video')).toHaveLength(1);
      expect(made(media)).toEqual(['Why cats purr', 'Cats sleep sixteen hours a day.']);
      expect(media.files[1]).toMatchObject({ name: 'Sleepy cats', settings: { duration: 1 } });
      expect(media.folders.map(({ name }) => name)).toContain('Cats');
    },
    ({ media, lines }) => {
      expect(made(media)).toEqual(['Why cats purr']);
      expect(lines.join('\n')).toContain('subtitlePresetId');
    },
    ({ media, lines }) => {
      expect(made(media)).toEqual(['Good morning!']);
      expect(lines.at(-1)).toMatch(/^success/);
    },
    ({ media, lines }) => {
      expect(media.files).toMatchObject([{ settings: { playbackRate: 1.2, format: 'mp3' } }]);
      expect(lines).toEqual([media.files[0]?.download]);
    },
    ({ media, files }) => {
      expect(media.files).toHaveLength(2);
      expect(files).toContain('article.mp3');
    },
  ],
  'docs/many-videos.md': [
    async ({ media, files, lines, again }) => {
      const topics = ['Why cats purr', 'Why cats sleep', 'Why cats climb'];
      expect(made(media)).toEqual(topics);
      expect(saved(files)).toHaveLength(3);
      expect([...lines].sort()).toEqual(topics.map((topic) => `${topic} is saved`).sort());
      await again();
      expect(media.files).toHaveLength(3);
    },
    async ({ media, files, lines, again }) => {
      expect(media.files).toHaveLength(4);
      expect(saved(files)).toHaveLength(4);
      expect(lines.filter((line) => line.startsWith('0 '))).toHaveLength(2);
      await again();
      expect(media.files).toHaveLength(4);
    },
  ],
  'docs/waiting.md': [
    ({ media, files }) => {
      expect(made(media)).toEqual(['Good morning!']);
      expect(saved(files)).toEqual([`${media.files[0]?.fileId}.mp3`]);
    },
    ({ media, lines }) => {
      const [file] = media.files;
      expect(lines.at(-1)).toBe(`${file?.fileId} ${file?.download}`);
      expect(lines.at(-2)).toMatch(/^success /);
    },
    ({ media, lines }) => {
      expect(lines).toEqual([
        expect.stringMatching(new RegExp(`^${media.files[0]?.fileId} \\w+ \\d+$`)),
      ]);
      expect(media.files).toMatchObject([{ status: 'success' }]);
    },
    ({ media, files }) => {
      expect(made(media)).toEqual(['Good morning!']);
      expect(files).toContain('postreel-good-morning.mp3');
    },
  ],
  'docs/webhooks.md': [
    ({ media, lines }) => expect(lines).toEqual([media.files[0]?.fileId]),
    {
      use: `${calledBack('rotating')}
const old = createInbox({ secret: 'the old secret, still accepted' });
await callBack(await old.url('https://shop.example/media-done'));`,
      has: ({ lines }) => expect(lines).toEqual(['204']),
    },
    {
      use: `${calledBack('({ fetch: POST })')}
await callBack(await inbox.url('https://shop.example/media-done'));
await callBack('https://shop.example/media-done');`,
      has: ({ lines }) => expect(lines).toEqual(['204', '401']),
    },
    {
      use: `
const keys = new Set();
const redis = {
  set: async (key) => (keys.has(key) ? null : (keys.add(key), 'OK')),
  del: async (key) => Number(keys.delete(key)),
};
const [one, other] = [1, 2].map(() => inboxOver(redis, process.env.WEBHOOK_SECRET));
${calledBack('one')}
const url = await other.url('https://shop.example/media-done');
await callBack(url);
await callBack(url, 'file_2');`,
      has: ({ lines }) => expect(lines).toEqual(['204', '409']),
    },
    ({ lines }) => expect(lines).toEqual(['file_1 success https://cdn.example/file_1.mp3']),
  ],
  'docs/testing.md': [
    passes(1),
    ({ lines }) => {
      expect(lines).toHaveLength(2);
    },
    ({ lines }) => expect(lines).toEqual(['unknown 1']),
    ({ lines }) => expect(lines).toEqual(['true']),
    ({ lines }) => expect(lines).toEqual(['contact-1@example.com', '250']),
    ({ lines }) => {
      expect(lines[0]).toMatch(/^5eed0000-0000-4000-8000-\d{12}$/);
      expect(lines[1]).toMatch(/contact_unknown does not exist/);
    },
    ({ lines }) => expect(lines.length).toBeGreaterThan(1),
    ({ lines }) => expect(lines).toEqual(["[ 'signed_up' ]"]),
    asksNothing,
  ],
  'docs/node.md': [
    ({ media, files }) => {
      expect(made(media)).toEqual(['Good morning!']);
      expect(saved(files)).toEqual([`${media.files[0]?.fileId}.mp3`]);
    },
    async ({ media, lines, again }) => {
      expect(lines).toEqual([media.files[0]?.download]);
      expect(await again()).toEqual(lines);
      expect(made(media)).toEqual(['Good morning!']);
    },
    ({ media, files, lines }) => {
      expect(made(media)).toEqual(['Good morning!']);
      expect(files).toContain('good-morning.mp3');
      expect(lines.at(-1)).toMatch(/^(\d+) \1$/);
    },
    ({ media, files, lines }) => {
      expect(lines).toEqual([media.files[0]?.fileId]);
      expect(files).toContain('speech');
    },
    ({ media, lines }) => {
      const { fileId = '' } = media.files[0] ?? {};
      expect(lines).toEqual([String(media.contentOf(fileId).length)]);
    },
    ({ lines, files }) => {
      expect(lines.join('\n')).toMatch(/limit: 10/);
      expect(files).toEqual(['people.csv', 'program.mjs']); // no call was counted yet
    },
  ],
  'docs/open-records.md': [
    ({ asked }) => expect(asked).toEqual(['GET /campaigns/{id}/stats']),
    ({ lines }) => expect(lines).toEqual(["[ 'X@Y.Z' ]"]),
  ],
  'docs/runtimes.md': [
    {
      use: `await messaging().contacts.get('con_1');`,
      has: ({ asked }) => expect(asked).toEqual(['GET /contacts/{id}']),
    },
  ],
  'docs/scale.md': [asksNothing, asksNothing], // test/postgres/restart.processes.test.ts runs the first
  'docs/tracing.md': [speaks],
  'docs/migrating.md': [
    ({ fake, lines }) => {
      expect(mails(fake)).toEqual([[ann, 'Hi', '<p>Hi</p>']]);
      expect(lines).toEqual([expect.stringMatching(/^\S+$/)]);
    },
    ({ fake, lines }) => {
      expect(mails(fake)).toEqual([[ann, 'Hi', '<p>Hi</p>']]);
      expect(lines).toEqual(['1']);
    },
  ],
  'docs/engines.md': [
    {
      use: `await order({ add: async (...job) => console.log(JSON.stringify(job)) }, { prompt: 'cats' });`,
      has: ({ lines }) =>
        expect(lines).toEqual([
          '["video",{"prompt":"cats"},{"attempts":5,"backoff":{"type":"exponential","delay":60000}}]',
        ]),
    },
    {
      use: decided,
      has: ({ lines }) => {
        expect(lines.slice(0, 2)).toEqual(['unknown', 'unknown']);
        expect(lines.slice(-2)).toEqual(['file_000001', 'file_000003']); // the first was found
      },
    },
    asksNothing, // saves under /data
    {
      use: `
import { MediaClient, memoryJournal } from 'postreel';
const step = { run: (id, work) => work() };
const film = { workflowType: 'idea', prompt: 'cats', voiceId: 'voice_1' };
const client = new MediaClient({ journal: memoryJournal() });
for (const run of [1, 2]) console.log(await makeVideo(client, step, 'run-1', film));`,
      has: ({ media, lines }) => {
        const url = media.files[0]?.download;
        expect([made(media), lines]).toEqual([['cats'], [url, url]]);
      },
    },
    async ({ media, lines, again }) => {
      expect(lines).toEqual([media.files[0]?.fileId]);
      await again();
      expect(made(media)).toEqual(['The news of today.']);
    },
  ],
  'docs/tracker.md': [
    {
      isPage: true,
      use: flushed,
      has: ({ fake, contact, bodies }) => {
        expect(bodies('POST /v1/track')).toHaveLength(2);
        expect(events(fake)).toEqual(['signed_up', 'viewed']);
        expect(contact(ann)?.data).toMatchObject({ plan: 'pro' });
        expect(contact(ann)?.data).not.toHaveProperty('code');
      },
    },
    { isPage: true, use: flushed, has: asksNothing },
    {
      isPage: true,
      use: `console.log((await outcome).status);${flushed}`,
      has: ({ lines, asked }) => expect([lines, asked]).toEqual([['queued'], []]), // nobody is identified
    },
    {
      isPage: true,
      use: `tracker.identify('ann@example.com');${flushed}`,
      has: ({ bodies }) => {
        const [viewed] = bodies('POST /v1/track');
        expect(viewed).toMatchObject({ email: ann, event: 'page_viewed' });
      },
    },
  ],
  'docs/tracker-proxy.md': [
    {
      use: collected(),
      has: ({ fake, lines }) => expect([lines, events(fake)]).toEqual([['200'], ['viewed']]),
    },
    {
      isPage: true,
      use: `tracker.track('viewed');${flushed}`,
      has: asksNothing,
    },
    {
      use: collected(),
      has: ({ fake, lines }) => expect([lines, events(fake)]).toEqual([['403'], []]),
    },
  ],
  'docs/recipes/consent.md': [asksNothing],
  'docs/recipes/cron.md': [
    async ({ fake, lines, again }) => {
      expect(lines).toEqual(['2 sent, 0 had it already']);
      expect(await again()).toEqual(['0 sent, 2 had it already']);
      expect(fake.outbox.map(({ to }) => to).sort()).toEqual([ann, 'bea@example.com']);
    },
  ],
  'docs/recipes/keys.md': [({ asked }) => expect(asked).toEqual(['GET /contacts'])],
  'docs/recipes/many-machines.md': [
    asksNothing,
    ({ fake, files }) => {
      expect(events(fake)).toEqual(['signed_up']);
      expect(files).toContain('messaging-budget.json');
    },
  ],
  'docs/recipes/proxies.md': [
    asksNothing,
    {
      use: collected(),
      has: ({ fake, lines }) => expect([lines, events(fake)]).toEqual([['200'], ['viewed']]),
    },
    asksNothing,
  ],
  'docs/recipes/tracker-tests.md': [
    ({ lines, asked }) => {
      expect(lines.at(-1)).toBe("[ 'signed_up' ]");
      expect(asked).toEqual([]);
    },
  ],
};
