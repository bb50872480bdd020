import { readFile } from 'node:fs/promises';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/sizes.js';
import { dryPack, installPackage, type Project } from '../support/package/installed.js';

// Generous limits: they catch large growth, not a single kilobyte.
const guards: Readonly<Record<string, readonly [code: string, maxKilobytes: number]>> = {
  'a messaging client': [`export { MessagingClient } from 'postreel/messaging';`, 120],
  'a media client': [`export { MediaClient } from 'postreel/media';`, 115],
  'the tracker': [`export { createTracker } from 'postreel/tracker';`, 10],
};

describe('the size of', () => {
  it.each(Object.entries(guards))(
    '%s, bundled, minified and gzipped in all its chunks, is well below its limit',
    async (name, [code, maxKilobytes]) => {
      const { eager, lazy } = await bundle(code);
      const kilobytes = (eager + lazy) / 1000;
      report(`${name}: ${kilobytes.toFixed(1)} KB`, `${maxKilobytes} KB`);
      expect(kilobytes).toBeGreaterThan(1); // the bundle is not empty
      expect(kilobytes).toBeLessThanOrEqual(maxKilobytes);
    },
  );

  it('the tracker is the size that its documentation states', async () => {
    const { eager, lazy } = await bundle(guards['the tracker']![0]);
    expect(lazy).toBe(0);
    const text = await readFile('docs/tracker.md', 'utf8');
    expect(text).toContain(`${(eager / 1000).toFixed(1)} KB (gzip)`);
  });

  it('the tarball is well below its limit', async () => {
    const { size } = await dryPack();
    report(`the tarball: ${(size / 1e6).toFixed(2)} MB`, '1.3 MB');
    expect(size).toBeLessThanOrEqual(1.3e6);
  });
});

describe('ten calls of a user', () => {
  const lines = (fields: string) => `
    import { clear, MessagingClient, transient } from 'postreel';
    const messaging = new MessagingClient${fields}();
    const email = 'ann@example.com';
    const ann = await messaging.contacts.create({ email, data: { plan: 'pro', seats: 5 } });
    await messaging.contacts.update(ann.id, { data: { plan: 'free', seats: clear() } });
    const mail = { from: 'shop@example.com', to: email, subject: 'Hi', body: 'Hi' };
    await messaging.send({ ...mail, data: { seats: transient(6) } });
    await messaging.track({ email, event: 'upgraded', data: { plan: 'pro' } });
    const { data } = await messaging.contacts.get(ann.id);
    console.log(data?.plan, data?.seats);
    for await (const contact of messaging.contacts.list()) console.log(contact.email);
    await messaging.templates.get('tpl_1');
    await messaging.verify({ email });
    await messaging.segments.list();`;
  let project: Project;
  beforeAll(async () => {
    project = await installPackage();
  });
  afterAll(() => project.remove());

  it.each([
    ['with', `<{ plan: 'free' | 'pro'; seats: number }>`],
    ['without', ''],
  ])('cost the compiler few instantiations %s custom fields', async (name, fields) => {
    const file = await project.write('ten-calls.mts', lines(fields));
    const program = ts.createProgram([file], {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
    });
    const problems = program.getSemanticDiagnostics(program.getSourceFile(file));
    expect(problems.map(({ messageText }) => messageText)).toEqual([]);
    const instantiations = program.getInstantiationCount();
    report(`ten calls ${name} custom fields: ${instantiations} instantiations`, '320');
    expect(instantiations).toBeLessThanOrEqual(320);
  });
});

function report(figure: string, guard: string): void {
  console.log(`${figure} (guard: ${guard})`);
}
