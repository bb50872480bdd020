import Papa from 'papaparse';
import { MessagingClient, type ImportAllOptions } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';

/** Imports into a new fake, and returns what it has then. */
async function imported(rows: readonly unknown[], options: ImportAllOptions = {}) {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient({ ...fake.options, rateLimit: false });
  const given = { newContacts: 'subscribed', ...options } as const;
  const report = await messaging.contacts.importAll(rows as readonly string[], given);
  const contacts = [...fake.project.contacts.values()];
  const data = Object.fromEntries(contacts.map((one) => [one.email.replace(/@.*/, ''), one.data]));
  return { ...report, data, requests: fake.requests };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

describe('the separator of a file', () => {
  it.each([
    [
      'semicolons, with commas in the header',
      'email;"Last name, first"\na@b.co;"Ray, Al"\nc@b.co;x\n',
    ],
    [
      'semicolons, with bare commas in the header',
      'email;Last name, first, middle\na@b.co;Ray\nc@b.co;x\n',
    ],
    ['tabs, with commas in the header', 'email\tLast name, first\na@b.co\tRay\nc@b.co\tx\n'],
    ['semicolons, with a line break in the header', 'email;"Last\nname"\na@b.co;Ray\nc@b.co;x\n'],
    ['bars, with commas in the cells', 'email|name\na@b.co|Ray, Al, Jr.\nc@b.co|x\n'],
  ])('is found: %s', async (_, text) => {
    const { done, data } = await imported([text]);
    expect(done).toBe(2);
    expect(Object.keys(data['a'] ?? {})).toHaveLength(1);
  });

  it.each([';', '\t', '~', '§'])('is %j, if the option says so', async (separator) => {
    const text = `Name, given${separator}email\nRay, Al${separator}a@b.co\n`;
    const { data } = await imported([text], { separator });
    expect(data).toEqual({ a: { 'Name, given': 'Ray, Al' } });
  });

  it.each([',,', '', '"', '\n', 5])('cannot be %j', async (separator) => {
    await expect(imported(['email\n'], { separator: separator as string })).rejects.toThrow(
      "`separator` must be one character, such as ';'",
    );
  });

  it('is in the error of a file that seems to have one column', async () => {
    await expect(imported(['email~name\na@b.co~Al\n'])).rejects.toThrow("`separator: ';'`");
  });
});

describe('a failed row of a file', () => {
  const text = [
    'Id,E-Mail,Name,Notes,Name,',
    '1,ann@example.com,"Ann, the first",x,A,',
    '2,not an address," Bob ",y,B,',
    '3,cid@example.com,Cid,z,C,,one more',
    '4,dee@example.com,"Dee" the,q,D,',
  ].join('\n');
  const options = { columns: { id: null, notes: null, 'Name 2': 'nick' } } as const;

  it('has every column under its name with its text, including dropped columns', async () => {
    const { done, failed } = await imported([text], options);
    expect(done).toBe(1);
    expect(failed.map(({ row }) => row)).toEqual([
      { Id: '2', 'E-Mail': 'not an address', Name: ' Bob ', Notes: 'y', 'Name 2': 'B', '': '' },
      {
        Id: '3',
        'E-Mail': 'cid@example.com',
        Name: 'Cid',
        Notes: 'z',
        'Name 2': 'C',
        '': '',
        __parsed_extra: ['one more'],
      },
      {
        Id: '4',
        'E-Mail': 'dee@example.com',
        Name: '"Dee" the',
        Notes: 'q',
        'Name 2': 'D',
        '': '',
      },
    ]);
  });

  it('has one number in its message, the line of the file', async () => {
    const { failed } = await imported([text], options);
    const numbers = failed.map(({ error }) => [...messageOf(error).matchAll(/line (\d+)/g)]);
    expect(numbers.map((found) => found.map(([, line]) => line))).toEqual([['3'], ['4'], ['5']]);
  });

  it('is written to a file, corrected, and imported with the same options', async () => {
    const { failed } = await imported([text], options);
    const rows = failed.map(({ row }, at) =>
      Object.assign({}, row, { 'E-Mail': `p${at}@example.com` }),
    );
    const names = Object.keys(failed[0]?.row ?? {});
    const again = await imported([Papa.unparse(rows, { columns: names })], options);
    expect(again).toMatchObject({ done: 3, failed: [] });
    expect(again.data['p1']).toEqual({ Name: 'Cid', nick: 'C' });
  });

  it('fails again if its cells beyond the header were left in the file', async () => {
    const { failed } = await imported([text], options);
    const { row } = failed[1]!;
    for (const source of [[Papa.unparse([row])], [row]]) {
      const again = await imported(source, options);
      expect(again).toMatchObject({ done: 0, failed: [{ index: 0 }] });
    }
  });
});

describe('a column without a name, as pandas writes it', () => {
  const text = ',email,plan\n0,ann@example.com,pro\n1,bob@example.com,free\n';
  const objects = [
    { '': '0', email: 'ann@example.com', plan: 'pro' },
    { '': '1', email: 'bob@example.com', plan: 'free' },
  ];

  it.each([
    ['text', [text]],
    ['objects', objects],
  ])(
    'fails each row that has a value in it, and the message says how to drop it: %s',
    async (_, rows) => {
      const { done, failed } = await imported(rows);
      expect([done, failed.length]).toEqual([0, 2]);
      expect(messageOf(failed[0]?.error)).toContain("`columns: { '': null }`");
      expect(failed[0]?.row).toEqual(objects[0]);
      const again = await imported(
        failed.map(({ row }) => row),
        { columns: { '': null } },
      );
      expect(again.data).toEqual({ ann: { plan: 'pro' }, bob: { plan: 'free' } });
    },
  );

  it.each([
    ['text', [text]],
    ['objects', objects],
  ])('is dropped or named by `columns`: %s', async (_, rows) => {
    const dropped = await imported(rows, { columns: { '': null } });
    expect(dropped.data).toEqual({ ann: { plan: 'pro' }, bob: { plan: 'free' } });
    const named = await imported(rows, { columns: { '': 'number' } });
    expect(named.data).toMatchObject({ bob: { plan: 'free', number: 1 } });
  });

  it('may occur several times: one entry drops all of them', async () => {
    const many = ',email,,\n0,ann@example.com,x,y\n';
    const { failed } = await imported([many]);
    expect(Object.values(failed[0]?.row ?? {})).toEqual(['0', 'ann@example.com', 'x', 'y']);
    const rows = failed.map(({ row }) => row);
    for (const source of [[many], [Papa.unparse(rows)], rows]) {
      const { done } = await imported(source, { columns: { '': null } });
      expect(done).toBe(1);
    }
  });
});
