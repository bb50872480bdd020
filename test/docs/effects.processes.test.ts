import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'esbuild';
import type { FakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { withServices } from '../support/scripts.js';
import { snippetsOf } from '../support/snippets.js';

/** What is left of a program, once it has run. */
interface Left {
  readonly fake: FakeMessaging;
  /** The lines that it printed. */
  readonly lines: readonly string[];
  /** The contact with this email. */
  readonly contact: (email: string) => ReturnType<typeof contactIn>;
  /** The bodies of the calls of an endpoint. */
  readonly bodies: (endpoint: string) => unknown[];
  /** Runs the same program once more. */
  readonly again: () => Promise<void>;
}

type Effect = (left: Left) => void | Promise<void>;

const contactIn = (fake: FakeMessaging, email: string) =>
  [...fake.project.contacts.values()].find((one) => one.email === email);
const named = <Item extends { readonly name: string }>(items: Map<string, Item>, name: string) =>
  [...items.values()].filter((item) => item.name === name);
const mails = ({ outbox }: FakeMessaging) =>
  outbox.map(({ to, subject, body }) => [to, subject, body]);
const ann = 'ann@example.com';

/** What each program of a page does, in their order. */
const effects: Readonly<Record<string, readonly Effect[]>> = {
  emails: [
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
  contacts: [
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
  campaigns: [
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
  messaging: [
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
  workflows: [
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
  lists: [
    ({ lines }) => expect(new Set(lines).size).toBe(122),
    ({ lines }) => expect(lines).toEqual([expect.stringMatching(/^50 122 true \S+$/), '50']),
    ({ lines }) => expect(new Set(lines).size).toBe(122),
    // The sample segment has no members: nobody is deleted.
    ({ fake }) => expect(fake.project.contacts.size).toBe(122),
    ({ lines }) => expect(lines.length).toBeGreaterThanOrEqual(121),
    ({ lines }) => expect(lines).toEqual(['100', '22']),
    ({ lines }) => expect(lines).toEqual(['122']),
  ],
};

describe.each(Object.entries(effects))('the programs of docs/%s.md, as pasted', (page, wanted) => {
  const programs = snippetsOf(`docs/${page}.md`);

  it('are all here', () => expect(programs).toHaveLength(wanted.length));

  it.concurrent.each(programs.map(({ name, code }, at) => [name, code, at] as const))(
    '%s has its effect',
    async (_, code, at) => {
      const { code: script } = await transform(code, { loader: 'ts', format: 'esm' });
      await withServices(async (run, server, folder) => {
        writeFileSync(join(folder, 'program.mjs'), script);
        const fake = server.messaging;
        const runOnce = async () => {
          const { code: exit, output } = await run([join(folder, 'program.mjs')]);
          expect(exit, output).toBe(0);
          return output.trim().split('\n');
        };
        const lines = await runOnce();
        await wanted[at]?.({
          fake,
          lines,
          contact: (email) => contactIn(fake, email),
          bodies: (endpoint) =>
            fake.requests.filter((one) => one.endpoint === endpoint).map(({ body }) => body),
          again: async () => {
            await runOnce();
          },
        });
      });
    },
    120_000,
  );
});
