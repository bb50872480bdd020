import Papa from 'papaparse';
import { describe, expect, it, vi } from 'vitest';
import { CsvReader } from '../../src/messaging/csv.js';
import { messagingOver } from '../support/clients.js';

/** Imports into a service that takes everything, and shows the files it got. */
async function imported(source: object, options: { data?: { emptyString: 'delete' } } = {}) {
  const files: string[] = [];
  const messaging = messagingOver(async (input, init) => {
    const request = new Request(input, init);
    if (request.method === 'GET') {
      return Response.json({ status: 'completed' });
    }
    const file = (await request.formData()).get('file') as File; // a form's file
    files.push(await file.text());
    return Response.json({ jobId: 'job' });
  }, options);
  const report = await messaging.contacts.importAll(source as never, {
    newContacts: 'subscribed',
    wait: { interval: 1 },
  });
  return { ...report, files };
}

const problemsOf = ({ failed }: { failed: { index: number; error: unknown }[] }) =>
  failed.map(({ index, error }) => [index, error instanceof Error ? error.message : error]);

describe('a CSV file', () => {
  it('has a stray quote in the middle of a field: it is text', async () => {
    const lines = Array.from(
      { length: 1000 },
      (_, at) => `p${at}@b.c,${at === 10 ? '5" pipe' : at}`,
    );
    const report = await imported([`email,note\n${lines.join('\n')}`]);
    expect(report).toMatchObject({ done: 1000, failed: [] });
    expect(report.files[0]).toContain('p10@b.c,"5"" pipe"\n');
  });

  it('has a stray quote at the start of a field: its line fails, the others are imported', async () => {
    const lines = Array.from({ length: 1000 }, (_, at) => `p${at}@b.c,${at === 10 ? '"open' : at}`);
    const report = await imported([`email,note\n${lines.join('\n')}`]);
    expect(report.done).toBe(999);
    expect(problemsOf(report)).toEqual([
      [10, expect.stringContaining('line 12: a quoted field is not closed')],
    ]);
  });

  it('has a quoted field with text after its quote: its line fails, with the reason', async () => {
    const report = await imported(['email,note\na@b.c,"x" y\nb@b.c,"z"\nc@b.c,1,2\nd@b.c\n']);
    expect(report.done).toBe(2);
    expect(problemsOf(report)).toEqual([
      [0, expect.stringContaining('line 2: a quoted field has text after its closing quote')],
      [2, expect.stringContaining('line 4: it has 3 fields; the header has 2')],
    ]);
    expect(report.files).toEqual(['email,note\nb@b.c,z\nd@b.c,\n']);
  });

  it('has a record of more than 1 MB: it fails, and reading continues', async () => {
    const long = 'x'.repeat(1_100_000);
    const report = await imported([
      `email,note\na@b.c,${long}\nb@b.c,1\nc@b.c,"${long}\n"\nd@b.c,2\n`,
    ]);
    expect(report.files.join('')).toBe('email,note\nb@b.c,1\nd@b.c,2\n');
  });

  it.each([
    ['a semicolon', 'email;note\r\na@b.c;x,y\r\n', 'email,note\na@b.c,"x,y"\n'],
    ['a tab', 'email\tnote\na@b.c\tx\n', 'email,note\na@b.c,x\n'],
    ['nothing, with one column', 'email\na@b.c\n\nb@b.c', 'email\na@b.c\nb@b.c\n'],
    ['commas, with returns alone', 'email,note\ra@b.c,x\r', 'email,note\na@b.c,x\n'],
  ])('has fields separated by %s', async (_, text, file) => {
    expect((await imported([text])).files).toEqual([file]);
  });

  it.each([
    ['UTF-8 with a mark', [0xef, 0xbb, 0xbf, ...new TextEncoder().encode('email,n\na@b.c,é\n')]],
    ['UTF-16 with a mark', [0xff, 0xfe, ...Buffer.from('email,n\na@b.c,é\n', 'utf16le')]],
    ['UTF-16 without one', [...Buffer.from('email,n\na@b.c,é\n', 'utf16le')]],
    [
      'UTF-16, the other way round',
      [0xfe, 0xff, ...Buffer.from('email,n\na@b.c,é\n', 'utf16le').swap16()],
    ],
  ])('is %s, in pieces of any size', async (_, bytes) => {
    const whole = Uint8Array.from(bytes);
    const pieces = Array.from(whole, (byte) => Uint8Array.of(byte));
    for (const source of [[whole], pieces]) {
      expect((await imported(source)).files).toEqual(['email,n\na@b.c,é\n']);
    }
  });

  it('is neither UTF-8 nor UTF-16: it is rejected, and the error says how to convert it', async () => {
    const bytes = Uint8Array.from([...Buffer.from('email,n\na@b.c,'), 0xe9, 0x0a]);
    await expect(imported([bytes])).rejects.toMatchObject({
      name: 'InvalidRequestError',
      message: expect.stringContaining('iconv -f WINDOWS-1252 -t UTF-8') as string,
      outcome: 'not-sent',
    });
  });

  it('has a damaged name in any of its pieces: that row fails', async () => {
    const report = await imported(['email,name\na@b.c,J\uFFFDrg\n', 'b@b.c,Bob\n', 'c@b.c,Cid\n']);
    expect(report).toMatchObject({ done: 2, failed: [{ index: 0 }] });
    expect(problemsOf(report)).toEqual([[0, expect.stringContaining('U+FFFD')]]);
  });

  it('has a column twice: both are imported', async () => {
    expect((await imported(['email,a,a\nx@b.c,1,2\n'])).files).toEqual([
      'email,a,a 2\nx@b.c,1,2\n',
    ]);
  });

  it('is full of lines that cannot be read: other work runs in between', async () => {
    const text = `email,note\n${'a@b.c,"x" y\n'.repeat(60_000)}`;
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const { failed } = await imported([text]);
    clearInterval(timer);
    expect(failed).toHaveLength(60_000);
    expect(turns).toBeGreaterThan(5);
  });

  it('arrives in one piece: the first batch is sent before the last record is read', async () => {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its reader below
    const { read } = CsvReader.prototype;
    let count = 0;
    const spy = vi.spyOn(CsvReader.prototype, 'read').mockImplementation(function* (
      this: CsvReader,
      piece,
    ) {
      for (const records of read.call(this, piece)) {
        count += records.length;
        yield records;
      }
    });
    const counts: number[] = [];
    const { contacts } = messagingOver(() => {
      counts.push(count);
      return Promise.resolve(Response.json({ jobId: 'job', status: 'completed' }));
    });
    await contacts.importAll(
      [`email,note\n${`a@b.c,${'a long note '.repeat(10)}\n`.repeat(30_000)}`],
      {
        newContacts: 'subscribed',
      },
    );
    spy.mockRestore();
    expect(counts[0]).toBeLessThan(10_000);
    expect(count).toBe(30_000);
  });

  it('is full of stray quotes: each line is parsed a few times, however long the file is', () => {
    const { Parser } = Papa;
    let characters = 0;
    const spy = vi.spyOn(Papa, 'Parser').mockImplementation(function (config) {
      const parser = new Parser(config);
      const parse = parser.parse.bind(parser);
      parser.parse = (text, ...rest) => {
        characters += text.length;
        return parse(text, ...rest) as unknown;
      };
      return parser;
    });
    const parsedOf = (lines: number) => {
      characters = 0;
      const reader = new CsvReader();
      const text = `email,note\n${'a@b.c,"x" y\n'.repeat(lines)}`;
      const records = [...reader.read(text), ...reader.end()].flat();
      expect(records).toHaveLength(lines);
      return characters;
    };
    expect(parsedOf(4000) / parsedOf(1000)).toBeLessThan(5);
    expect(parsedOf(4000) / (4000 * 'a@b.c,"x" y\n'.length)).toBeLessThan(2);
    spy.mockRestore();
  });
});

describe('rows of an import', () => {
  class Money {
    constructor(readonly cents: number) {}
    toJSON() {
      return (this.cents / 100).toFixed(2);
    }
  }

  it('have values in the form of a request body', async () => {
    const entity = { dataValues: { hash: 'x' }, toJSON: () => ({ email: 'b@b.c', plan: 'pro' }) };
    const at = new Date('2027-01-01T00:00:00Z');
    const row = { email: 'a@b.c', price: new Money(1250), at, left: undefined, ok: true, n: 0 };
    const { files } = await imported([row, entity]);
    expect(files).toEqual([
      'email,price,at,ok,n,plan\na@b.c,12.50,2027-01-01T00:00:00.000Z,true,0,\nb@b.c,,,,,pro\n',
    ]);
  });

  it.each([
    ['n', NaN],
    ['n', null],
    ['n', { a: 1 }],
    ['n', [1]],
    ['n', 1n],
    ['n', '\ud800'],
    ['email', 'ann'],
    ['email', undefined],
  ])('fail with the name of the field if `%s` is %o', async (field, value) => {
    const bad = { email: 'a@b.c', [field]: value };
    const report = await imported([{ email: 'b@b.c' }, bad]);
    expect(report).toMatchObject({ done: 1, failed: [{ row: bad, index: 1 }] });
    expect(report.failed[0]?.error).toMatchObject({
      outcome: 'not-sent',
      fieldErrors: [{ field }],
    });
  });

  it('fail if `null` asks for a deletion, and the error explains the import', async () => {
    const { failed } = await imported([{ email: 'a@b.c', n: null }]);
    expect(String(failed[0]?.error)).toContain('`n` cannot be deleted by an import');
  });

  it('fail if an empty text asks for a deletion, which an import cannot do', async () => {
    const rows = [{ email: 'a@b.c', note: '' }];
    expect((await imported(rows, { data: { emptyString: 'delete' } })).failed).toHaveLength(1);
    expect((await imported(rows)).failed).toEqual([]);
  });

  it('with different columns share files', async () => {
    const rows = Array.from({ length: 600 }, (_, at) => ({ email: `p${at}@b.c`, [`c${at}`]: at }));
    const { files, done } = await imported(rows);
    expect(done).toBe(600);
    expect(files.length).toBeLessThan(5);
  });
});
