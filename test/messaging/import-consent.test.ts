import { MessagingClient, PartialError, type ImportAllOptions } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';

function scene(options: object = {}) {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient({ ...fake.options, rateLimit: false, ...options });
  const warnings: string[] = [];
  messaging.on('warning', ({ message }) => warnings.push(message));
  const states = () =>
    Object.fromEntries(
      [...fake.project.contacts.values()].map(({ email, subscribed }) => [
        email.replace(/@.*/, ''),
        subscribed,
      ]),
    );
  const data = () =>
    Object.fromEntries(
      [...fake.project.contacts.values()].map((one) => [one.email.replace(/@.*/, ''), one.data]),
    );
  /** The files that were uploaded. */
  const files = () =>
    Promise.all(
      fake.requests
        .map(({ body }) => body)
        .filter((body) => body instanceof FormData)
        .map((body) => (body.get('file') as File).text()),
    );
  const run = (rows: unknown, given?: object) =>
    messaging.contacts.importAll(
      (typeof rows === 'string' ? [rows] : rows) as string[],
      given as ImportAllOptions,
    );
  return { fake, messaging, warnings, states, data, files, run };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
const reasons = ({ failed }: { failed: readonly { error: unknown }[] }) =>
  failed.map(({ error }) => messageOf(error));
const known = (messaging: MessagingClient, ...names: readonly string[]) =>
  Promise.all(
    names.map((name) =>
      messaging.contacts.create({
        email: `${name.slice(1)}@example.com`,
        subscribed: name.startsWith('+'),
      }),
    ),
  );

/** A statement that is missing, as text and as objects. */
const silent = {
  text: 'email,plan,status\nann@example.com,pro,active\n',
  objects: [{ email: 'ann@example.com', plan: 'pro', status: 'active' }],
};

describe('an import that does not say who is subscribed', () => {
  it.each(Object.entries(silent))(
    'is rejected before the upload, with the three remedies and the columns: %s',
    async (_, rows) => {
      const { fake, run } = scene();
      const call = run(rows);
      await expect(call).rejects.toMatchObject({
        name: 'InvalidRequestError',
        outcome: 'not-sent',
      });
      const message = await call.catch(messageOf);
      for (const words of [
        "`newContacts: 'subscribed'`",
        "`newContacts: 'unsubscribed'`",
        '`columns: { "…": \'subscribed\' }`',
        'read: (text) =>',
        '`subscribed: true` or `subscribed: false`',
        'existing contacts included',
        'The columns are "email", "plan", "status"',
      ]) {
        expect(message).toContain(words);
      }
      expect(message).not.toContain('Did you mean');
      expect(fake.requests).toEqual([]);
    },
  );

  it('names the columns that may contain it in the error', async () => {
    const { run } = scene();
    await expect(run('email,Unsubscribed\nann@example.com,yes\n')).rejects.toThrow(
      'columns: { "Unsubscribed": { field: \'subscribed\', read:',
    );
  });

  it('makes no request without rows', async () => {
    const { fake, run } = scene();
    await expect(run([])).resolves.toMatchObject({ done: 0 });
    expect(fake.requests).toEqual([]);
  });

  it('is rejected with both options, because one of them would have no effect', async () => {
    const { run } = scene();
    await expect(
      run(silent.text, { newContacts: 'subscribed', subscribed: false }),
    ).rejects.toThrow('Pass either');
    await expect(run(silent.text, { newContacts: 'yes' })).rejects.toThrow(
      "`newContacts` must be one of 'subscribed', 'unsubscribed'",
    );
  });
});

describe('newContacts', () => {
  it.each(Object.entries(silent))(
    "'subscribed' sends no `subscribed`, and existing contacts keep their state: %s",
    async (_, rows) => {
      const { messaging, run, states, files } = scene();
      await known(messaging, '-ann');
      await run(rows, { newContacts: 'subscribed' });
      expect(states()).toEqual({ ann: false });
      expect((await files())[0]).toMatch(/^email,plan,status\n/);
    },
  );

  it("'unsubscribed' looks up the contacts, and sends `subscribed: false` only for new ones", async () => {
    const { fake, messaging, run, states, files } = scene();
    await known(messaging, '+ann', '-bob');
    const rows = ['ann', 'bob', 'cid', 'dee'].map((name) => ({ email: `${name}@example.com` }));
    const report = await run(rows, { newContacts: 'unsubscribed' });
    expect(report).toMatchObject({ done: 4, failed: [], unknown: [] });
    expect(states()).toEqual({ ann: true, bob: false, cid: false, dee: false });
    expect(await files()).toEqual([
      'email\nann@example.com\nbob@example.com\n',
      'email,subscribed\ncid@example.com,false\ndee@example.com,false\n',
    ]);
    expect(fake.requests.filter(({ path }) => path === '/contacts/lookup')).toHaveLength(1);
  });

  it('looks up a second row of a new address after the first row has ended', async () => {
    const { fake, run, states, files } = scene();
    const rows = ['a', 'b', 'a', 'c', 'a'].map((name, at) => ({
      email: `${name}@example.com`,
      at,
    }));
    const seen: number[] = [];
    const report = await run(rows, {
      newContacts: 'unsubscribed',
      onProgress: ({ from }: { from: number }) => {
        seen.push(from);
        // Somebody subscribes between the two.
        for (const contact of fake.project.contacts.values()) {
          contact.subscribed ||= contact.email.startsWith('a@');
        }
      },
    });
    expect(report.done).toBe(5);
    expect(await files()).toEqual([
      'email,at,subscribed\na@example.com,0,false\nb@example.com,1,false\nc@example.com,3,false\n',
      'email,at\na@example.com,2\na@example.com,4\n',
    ]);
    expect(states()).toMatchObject({ a: true, b: false });
    expect(seen).toEqual([0, 5]);
  });

  it('looks up 500 addresses in one call, each of them once', async () => {
    const { fake, run } = scene();
    const rows = Array.from({ length: 1100 }, (_, at) => ({ email: `p${at % 1050}@example.com` }));
    await run(rows, { newContacts: 'unsubscribed' });
    const sizes = fake.requests
      .filter(({ path }) => path === '/contacts/lookup')
      .map(({ body }) => (body as { emails: unknown[] }).emails.length);
    expect(sizes).toEqual([500, 500, 50, 50]);
  });

  it('fails a row whose address is in neither list of the lookup, and sends nothing for it', async () => {
    const { fake, messaging, run, states } = scene();
    await known(messaging, '+ann');
    fake.fail('POST /contacts/lookup', {
      body: { found: ['ann@example.com'], notFound: [] },
      status: 200,
    });
    const rows = [{ email: 'ann@example.com' }, { email: 'bob@example.com' }];
    const report = await run(rows, { newContacts: 'unsubscribed' });
    expect(report).toMatchObject({ done: 1, failed: [{ index: 1, row: rows[1] }] });
    expect(reasons(report)[0]).toContain('is in neither list');
    expect(states()).toEqual({ ann: true });
  });

  it('ends if the lookup fails, with `resumeFrom`', async () => {
    const { fake, run } = scene({ retries: 0 });
    fake.fail('POST /contacts/lookup', { status: 503, times: 1 });
    const rows = [{ email: 'ann@example.com' }];
    const error: unknown = await run(rows, { newContacts: 'unsubscribed' }).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(PartialError);
    expect((error as PartialError).result).toMatchObject({
      done: 0,
      failed: [],
      notReached: 1,
      resumeFrom: 0,
    });
    expect(fake.project.contacts.size).toBe(0);
  });
});

describe('a column or key `subscribed`', () => {
  it('decides for each row; a row without a value fails without `newContacts`', async () => {
    const text = 'email,Subscribed\nann@example.com,yes\nbob@example.com,no\ncid@example.com,\n';
    const alone = scene();
    const report = await alone.run(text);
    expect(report).toMatchObject({ done: 2, failed: [{ index: 2 }] });
    expect(reasons(report)[0]).toContain('line 4: does not say whether the contact is subscribed');
    expect(alone.states()).toEqual({ ann: true, bob: false });

    const both = scene();
    await known(both.messaging, '-cid');
    await both.run(text, { newContacts: 'subscribed' });
    expect(both.states()).toEqual({ cid: false, ann: true, bob: false });
  });

  it('and rows without a value are sent in separate files', async () => {
    const { run, files } = scene();
    const text = 'email,subscribed,n\na@b.co,yes,1\nc@b.co,,2\nd@b.co,no,3\n';
    const seen: object[] = [];
    await run(text, {
      newContacts: 'subscribed',
      onProgress: (now: object) => seen.push({ ...now }),
    });
    expect(await files()).toEqual([
      'email,n,subscribed\na@b.co,1,true\nd@b.co,3,false\n',
      'email,n\nc@b.co,2\n',
    ]);
    expect(seen).toMatchObject([
      { done: 2, from: 0 },
      { done: 3, from: 3 },
    ]);
  });

  it('with different values for one address sends its rows in order', async () => {
    const { run, files, states } = scene();
    const text = 'email,subscribed,n\na@b.co,,1\na@b.co,no,2\na@b.co,,3\nc@b.co,,4\n';
    await run(text, { newContacts: 'subscribed' });
    expect(await files()).toEqual([
      'email,n\na@b.co,1\nc@b.co,4\n',
      'email,n,subscribed\na@b.co,2,false\n',
      'email,n\na@b.co,3\n',
    ]);
    expect(states()).toMatchObject({ a: false });
  });

  it('after an early end between two files, resumes before both, and counts each row once', async () => {
    const { fake, run } = scene({ retries: 0 });
    const controller = new AbortController();
    const text = 'email,subscribed\na@b.co,yes\nc@b.co,\nd@b.co,no\n';
    const error: unknown = await run([text, ''], {
      newContacts: 'subscribed',
      signal: controller.signal,
      onProgress: () => controller.abort(new Error('enough')),
    }).catch((e: unknown) => e);
    expect((error as PartialError).result).toMatchObject({ done: 2, resumeFrom: 0 });
    await run(text, { newContacts: 'subscribed', from: 0 });
    expect(fake.project.contacts.size).toBe(3);
  });

  it('is read with `read`, including empty cells', async () => {
    const { run, states } = scene();
    const columns = {
      Unsubscribed_at: { field: 'subscribed', read: (text: string) => text === '' },
    };
    await run('email,unsubscribed_at\nann@example.com,\nbob@example.com,2026-01-01\n', { columns });
    expect(states()).toEqual({ ann: true, bob: false });
    const rows = [
      { email: 'cid@example.com', unsubscribed_at: new Date() },
      { email: 'dee@example.com', unsubscribed_at: null },
      { email: 'eve@example.com' },
    ];
    await run(rows, { columns });
    expect(states()).toMatchObject({ cid: false, dee: true, eve: true });
  });

  it.each([
    ['returns a text', () => 'yes' as never, '`read` must return true or false'],
    ['returns nothing', () => undefined, '`read` must return true or false'],
    [
      'throws',
      () => {
        throw new Error('Unknown consent.');
      },
      'line 2: Unknown consent.',
    ],
  ])('fails the row if `read` %s, for any `newContacts`', async (_, read, words) => {
    const { fake, run } = scene();
    const options = {
      newContacts: 'subscribed',
      columns: { Consent: { field: 'subscribed', read } },
    };
    const report = await run('email,Consent\nann@example.com,?\n', options);
    expect(reasons(report)[0]).toContain(words);
    expect(fake.requests).toEqual([]);
  });
});

describe('the option `subscribed`', () => {
  it.each([true, false])(
    '%s changes existing contacts too, if rows have no value',
    async (value) => {
      const { messaging, run, states } = scene();
      await known(messaging, '+ann', '-bob');
      const text = 'email,subscribed\nann@example.com,\nbob@example.com,\ncid@example.com,no\n';
      await run(text, { subscribed: value });
      expect(states()).toEqual({ ann: value, bob: value, cid: false });
    },
  );
});

describe('columns', () => {
  const read = (text: string) => new Date(text);

  it('read dates, numbers and booleans, but no empty cell', async () => {
    const { run, files } = scene();
    const columns = {
      Signup: { field: 'signedUpAt', read },
      Seats: { field: 'seats', read: Number },
      Beta: { field: 'isBeta', read: (text: string) => text === 'x' },
      Note: { field: 'note', read: () => undefined },
    };
    const text = 'email,Signup,Seats,Beta,Note\na@b.co,2026-01-31 10:00:00+00,05,x,y\nc@b.co,,,,\n';
    await run(text, { newContacts: 'subscribed', columns });
    expect(await files()).toEqual([
      'email,signedUpAt,seats,isBeta,note\na@b.co,2026-01-31T10:00:00.000Z,5,true,\nc@b.co,,,,\n',
    ]);
  });

  it('read the values of objects as texts', async () => {
    const { run } = scene();
    const texts: string[] = [];
    const columns = { v: { field: 'w', read: (text: string) => texts.push(text) } };
    const values = [5, true, new Date(0), 'x', null, undefined];
    const rows = values.map((v, at) => ({ email: `p${at}@example.com`, v }));
    const report = await run(rows, { newContacts: 'subscribed', columns });
    expect(report.done).toBe(6);
    expect(texts).toEqual(['5', 'true', '1970-01-01T00:00:00.000Z', 'x']);
  });

  it.each([
    ['an invalid Date', () => new Date(NaN), '`read` returned an invalid Date'],
    ['NaN', () => NaN, '`read` must return'],
    ['an object', () => ({}) as never, '`read` must return'],
  ])('fail the row if `read` returns %s', async (_, reader, words) => {
    const { run } = scene();
    const columns = { Signup: { field: 'at', read: reader } };
    const report = await run('email,Signup\na@b.co,x\nc@b.co,\n', {
      newContacts: 'subscribed',
      columns,
    });
    expect(report).toMatchObject({ done: 1, failed: [{ index: 0, row: { Signup: 'x' } }] });
    expect(reasons(report)[0]).toContain(words);
  });

  it.each([{ field: 'x' }, { read }, { field: '', read }, 5, ['x']])(
    'reject %j',
    async (target) => {
      const { run } = scene();
      await expect(
        run('email,a\na@b.co,x\n', { newContacts: 'subscribed', columns: { a: target } }),
      ).rejects.toThrow('`columns` must give "a" the name of a field');
    },
  );

  it('reject two columns for one field, also with `read`', async () => {
    const { run } = scene();
    const columns = { a: { field: 'plan', read: String } };
    await expect(
      run('email,plan,a\na@b.co,x,y\n', { newContacts: 'subscribed', columns }),
    ).rejects.toThrow('Two columns map to the field `plan`');
  });
});

describe('a column whose name can only mean the subscription', () => {
  const names = [
    ...['unsubscribed', 'opt_out', 'opted_out', 'EMAIL_BLACKLISTED', 'do_not_email'],
    ...['accepts_marketing', 'unsubscribed_at', 'Accepts Email Marketing', 'optedOut'],
    ...['Unsubscribed from all email', 'Opted out of email: Marketing Information', 'UNSUB_TIME'],
  ];

  it.each(names)('`%s` is rejected before the upload until `columns` names it', async (name) => {
    const text = `email,${name}\nann@example.com,1\n`;
    const objects = [{ email: 'ann@example.com', [name]: 1 }];
    for (const rows of [text, objects]) {
      const { fake, run } = scene();
      const call = run(rows, { newContacts: 'subscribed' });
      await expect(call).rejects.toMatchObject({ name: 'InvalidRequestError' });
      await expect(call).rejects.toThrow(`The column "${name}" says who is subscribed`);
      expect(await call.catch(messageOf)).not.toContain('Did you mean');
      expect(fake.requests).toEqual([]);
      for (const target of [null, 'flag', { field: 'subscribed', read: () => false }]) {
        const again = scene();
        const options = { newContacts: 'subscribed', columns: { [name]: target } };
        await expect(again.run(rows, options)).resolves.toMatchObject({ done: 1 });
      }
    }
  });

  it.each(['status', 'subscription', 'consent', 'list', 'state'])(
    'is not `%s`, which is ambiguous',
    async (name) => {
      const { run, data } = scene();
      await run(`email,${name}\nann@example.com,paid\n`, { newContacts: 'subscribed' });
      expect(data()).toEqual({ ann: { [name]: 'paid' } });
    },
  );

  it('fails the row that is the first to have it', async () => {
    const { run } = scene();
    const rows = Array.from({ length: 1500 }, (_, at) => ({
      email: `p${at}@example.com`,
      ...(at === 1400 && { unsubscribed: true }),
    }));
    const report = await run(rows, { newContacts: 'subscribed' });
    expect(report).toMatchObject({ done: 1499, failed: [{ index: 1400 }] });
  });

  it.each([
    [
      'create',
      (m: MessagingClient, field: object) => m.contacts.create({ email: 'a@b.co', ...field }),
    ],
    ['importAll', (m: MessagingClient, field: object) => m.contacts.importAll([], { ...field })],
  ])('gets no hint that inverts its meaning: %s', async (_, call) => {
    for (const name of ['unsubscribed', 'isUnsubscribed', 'notSubscribed']) {
      const { messaging, warnings } = scene();
      const message = await (call(messaging, { [name]: true }) as Promise<unknown>).then(
        () => '',
        messageOf,
      );
      expect([message, ...warnings].join()).not.toContain('Did you mean `subscribed`');
    }
  });
});

describe('rows that are objects', () => {
  it('have custom fields in `data`, next to their own keys', async () => {
    const { run, data } = scene();
    const rows = [
      { email: 'ann@example.com', data: { plan: 'pro', seats: 3, unsubscribed: 'x' } },
      { email: 'bob@example.com', data: null, plan: 'free' },
    ];
    await run(rows, { newContacts: 'subscribed' });
    expect(data()).toEqual({
      ann: { plan: 'pro', seats: 3, unsubscribed: 'x' },
      bob: { plan: 'free' },
    });
  });

  it.each([
    ['the same field twice', { plan: 'a', data: { plan: 'b' } }, '`data.plan`'],
    ['a list', { data: { tags: ['a'] } }, '`tags`'],
    ['an object', { data: { address: { city: 'Rome' } } }, '`address`'],
    ['an address', { data: { email: 'x@b.co' } }, '`data.email`'],
    ['a subscription', { data: { Subscribed: true } }, '`data.Subscribed`'],
    ['`null`', { data: { plan: null } }, '`plan`'],
  ])('fail with %s in their `data`', async (_, fields, words) => {
    const { run } = scene();
    const report = await run([{ email: 'a@b.co', ...fields }, { email: 'c@b.co' }], {
      newContacts: 'subscribed',
    });
    expect(report).toMatchObject({ done: 1, failed: [{ index: 0 }] });
    expect(reasons(report)[0]).toContain(words);
  });
});

describe('records that were read', () => {
  it('never subscribe an existing contact, with any options', async () => {
    for (const options of [{}, { subscribed: true }, { newContacts: 'unsubscribed' }]) {
      const { fake, messaging, run, states, warnings, files } = scene();
      await known(messaging, '+ann', '+bob', '-cid');
      const rows = await messaging.contacts.list().toArray();
      for (const contact of fake.project.contacts.values()) {
        contact.subscribed &&= !contact.email.startsWith('ann'); // she leaves after the list was read
      }
      const report = await run(rows, options);
      expect(report).toMatchObject({ done: 3, failed: [] });
      expect(states()).toEqual({ ann: false, bob: true, cid: false });
      expect((await files()).join('')).not.toContain('true');
      expect(warnings).toEqual([expect.stringMatching(/^3 rows are contacts that were read/)]);
    }
  });

  it('keep their data, without unknown fields next to `data`', async () => {
    const { run, data } = scene();
    const record = { id: 'con_9', createdAt: '2026-01-01T00:00:00.000Z', subscribed: true };
    const rows = [
      {
        ...record,
        email: 'ann@example.com',
        data: { plan: 'pro', nick: null },
        status: 'x',
        _meta: {},
      },
      { ...record, email: 'bob@example.com', data: null, status: 'x', updatedAt: 'x' },
      { ...record, email: 'cid@example.com', plan: 'free', updatedAt: 'x' },
    ];
    await run(rows);
    expect(data()).toEqual({ ann: { plan: 'pro' }, bob: {}, cid: { plan: 'free' } });
  });

  it('are the rows of a file with the five columns of an export', async () => {
    const text =
      'email,subscribed,id,createdAt,updatedAt,plan\nann@example.com,true,c1,x,y,pro\nbob@example.com,false,c2,x,y,\n';
    const [header = '', ...lines] = text.trim().split('\n');
    const objects = lines.map((line) =>
      Object.fromEntries(header.split(',').map((name, at) => [name, line.split(',')[at]])),
    );
    for (const rows of [text, objects]) {
      const { messaging, run, states, data, warnings } = scene();
      await known(messaging, '-ann', '+bob');
      await run(rows, { newContacts: 'subscribed' });
      expect(states()).toEqual({ ann: false, bob: false });
      expect(data()).toMatchObject({ ann: { plan: 'pro' } });
      expect(data()['ann']).not.toHaveProperty('id');
      expect(warnings).toEqual([expect.stringMatching(/^2 rows are contacts that were read/)]);
    }
  });
});

describe('contacts.import()', () => {
  it.each([
    ['email,plan\na@b.co,pro\n', 1],
    ['email,subscribed\na@b.co,true\n', 0],
    ['email,unsubscribed\na@b.co,1\n', 1],
  ])(
    'warns once about a file without a column `subscribed`, and sends it: %j',
    async (data, count) => {
      const { messaging, warnings, files } = scene();
      await messaging.contacts.import({ data });
      expect(warnings).toHaveLength(count);
      for (const message of warnings) {
        expect(message).toMatch(/new contacts become subscribed.*contacts\.importAll\(\)/);
      }
      expect(await files()).toEqual([data]);
    },
  );
});

describe('dates', () => {
  it.each([
    ['an offset', '2026-01-31T10:00:00+02:00', 1],
    ['the text of Postgres', '2026-01-31 10:00:00+00', 1],
    ['no zone', '2026-01-31 10:00', 1],
    ['the form of the service', '2026-01-31T10:00:00.000Z', 0],
    ['a plain day', '2026-01-31', 0],
    ['another text', 'in 2026', 0],
  ])('with %s: a field gets one `warning` or none, before the first file', async (_, at, count) => {
    const rows = [
      { email: 'a@b.co', at },
      { email: 'c@b.co', at },
    ];
    const sources = [
      `email,at\na@b.co,${at}\nc@b.co,${at}\n`,
      rows,
      rows.map(({ email }) => ({ email, data: { at } })),
    ];
    for (const source of sources) {
      const { fake, run, warnings, messaging } = scene();
      const uploads: number[] = [];
      messaging.on('warning', () => uploads.push(fake.requests.length));
      await run(source, { newContacts: 'subscribed' });
      expect(warnings).toHaveLength(count);
      expect(uploads.every((sent) => sent === 0)).toBe(true);
      for (const message of warnings) {
        expect(message).toMatch(/`at` has a date.*read: \(text\) => new Date\(text\)/);
      }
    }
  });
});

/**
 * The proposal of an error for a column of people who have unsubscribed: the text of the message, and the
 * option to run.
 */
const proposal = {
  text: "{ field: 'subscribed', read: (text) => ['', 'no', 'false', '0'].includes(text.toLowerCase()) }",
  target: {
    field: 'subscribed',
    read: (text: string) => ['', 'no', 'false', '0'].includes(text.toLowerCase()),
  },
};

describe('the entry of `columns` that an error proposes', () => {
  const gone = {
    UNSUB_TIME: ['', '2026-02-01 08:00:00'],
    'Unsubscribed from all email': ['', 'true'],
    'Portal Unsubscribe': ['', 'TRUE'],
    EMAIL_BLACKLISTED: ['false', 'true'],
    'Opted out': ['No', 'Yes'],
    'Unsubscribed at': ['', '01.02.2026'],
    do_not_email: ['0', '1'],
  };
  const cases = Object.entries(gone).flatMap(([column, cells]) => [
    [column, cells, {}] as const,
    [column, cells, { newContacts: 'subscribed' }] as const,
  ]);
  it.each(cases)(
    'subscribes nobody who has unsubscribed: %s %s %o',
    async (column, cells, given) => {
      const file = `email,${column}\nann@example.com,${cells[0]}\nbob@example.com,${cells[1]}\n`;
      const { run, states } = scene();
      const message = await run(file, given).then(() => '', messageOf);
      expect(message).toContain(`"${column}": ${proposal.text}`);
      expect(message).not.toContain(`"${column}": 'subscribed'`);
      await run(file, { columns: { [column]: proposal.target } });
      expect(states()).toEqual({ ann: true, bob: false });
    },
  );

  it('names a column of states, if no other column says who has unsubscribed', async () => {
    const { run } = scene();
    await expect(run('email,status\nann@example.com,active\n')).rejects.toThrow(
      "columns: { \"status\": { field: 'subscribed', read: (text) => text.toLowerCase() === 'active' } }",
    );
  });
});

describe('a column that says who has unsubscribed', () => {
  it.each(['Unsubscribed', 'Opted out', 'EMAIL_BLACKLISTED'])(
    'is rejected as `subscribed`, because its yes would subscribe people who have unsubscribed: %s',
    async (column) => {
      const { fake, run } = scene();
      const rows = `email,${column}\nann@example.com,\nbob@example.com,yes\n`;
      const call = run(rows, { columns: { [column]: 'subscribed' }, newContacts: 'subscribed' });
      await expect(call).rejects.toThrow(`The column "${column}" says`);
      expect(fake.requests).toEqual([]);
    },
  );
});

describe('a row with the word `unsubscribed` in any column', () => {
  const rows = {
    text: 'email,Status\nann@example.com,Active\nbob@example.com,Unsubscribed\n',
    objects: [
      { email: 'ann@example.com', Status: 'Active' },
      { email: 'bob@example.com', Status: 'Unsubscribed' },
    ],
    data: [
      { email: 'ann@example.com', data: { Status: 'Active' } },
      { email: 'bob@example.com', data: { Status: 'opted out' } },
    ],
  };
  it.each(
    Object.entries(rows).flatMap(([name, given]) => [
      [name, { newContacts: 'subscribed' }, given] as const,
      [name, { subscribed: true }, given] as const,
    ]),
  )('fails if an option would subscribe its contact: %s %o', async (_, options, given) => {
    const { run, states } = scene();
    const report = await run(given, options);
    expect(reasons(report)).toEqual([expect.stringMatching(/`Status`.*has left.*columns/)]);
    expect(states()).toEqual({ ann: true });
  });

  it('is imported if nobody would be subscribed, or if `columns` names the column', async () => {
    for (const options of [
      { newContacts: 'unsubscribed' },
      { subscribed: false },
      { newContacts: 'subscribed', columns: { Status: 'Status' } },
      { newContacts: 'subscribed', columns: { Status: null } },
    ]) {
      const { run } = scene();
      expect(await run(rows.text, options)).toMatchObject({ done: 2, failed: [] });
    }
  });

  it('does not disturb a nightly import of orders', async () => {
    const { run, states } = scene();
    const orders =
      'email,status\nann@example.com,shipped\nbob@example.com,paid\ncid@example.com,cancelled\n';
    expect(await run(orders, { newContacts: 'subscribed' })).toMatchObject({ done: 3, failed: [] });
    expect(states()).toEqual({ ann: true, bob: true, cid: true });
  });
});

it('the error about unknown words in `subscribed` proposes an entry of `columns` that reads them', async () => {
  const { run } = scene();
  const { failed } = await run('email,status\nann@example.com,active\n', {
    columns: { status: 'subscribed' },
  });
  expect(reasons({ failed })[0]).toContain(
    "`columns: { \"status\": { field: 'subscribed', read: (text) => text === '…' } }`",
  );
});
