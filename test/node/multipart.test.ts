import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { multipartOf } from '../../src/node/multipart.js';

/** What the platform's own reader makes of the form. */
async function readBack(form: FormData) {
  const { body, contentType, length } = multipartOf(form);
  const chunks: BlobPart[] = [];
  for await (const chunk of body) {
    chunks.push(chunk as BlobPart); // bytes on any buffer
  }
  const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
  expect(bytes.length).toBe(length);
  const headers = { 'content-type': contentType };
  return {
    text: new TextDecoder().decode(bytes),
    form: await new Response(bytes, { headers }).formData(),
  };
}

describe('a form on its way', () => {
  it('arrives as it was made, whatever its names and contents', async () => {
    const fileName = fc
      .string({ minLength: 1, unit: 'grapheme' })
      .map((name) => name.replace(/[\r\n"%]/g, '_'));
    const file = fc.tuple(
      fileName,
      fc.uint8Array({ maxLength: 3_000 }),
      fc.constantFrom('', 'text/csv'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 3 }), fc.string(), async (files, note) => {
        const given = new FormData();
        given.append('note', note);
        for (const [name, bytes, type] of files) {
          given.append('file', new Blob([bytes], { type }), name);
        }
        const { form } = await readBack(given);
        expect(form.get('note')).toBe(note.replaceAll(/\r\n?|\n/g, '\r\n'));
        const read = form.getAll('file') as File[];
        expect(read.map(({ name }) => name)).toEqual(files.map(([name]) => name));
        for (const [index, [, bytes, type]] of files.entries()) {
          expect(new Uint8Array(await read[index]!.arrayBuffer())).toEqual(bytes); // as many as given
          expect(read[index]?.type).toBe(type === '' ? 'application/octet-stream' : type);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('keeps a name from ending its line', async () => {
    const form = new FormData();
    form.append('file', new Blob(['1']), 'a"\r\nX-Evil: 1.csv');
    const { text } = await readBack(form);
    expect(text).toContain('filename="a%22%0D%0AX-Evil: 1.csv"');
  });
});
