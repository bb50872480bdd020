import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  entryPoints,
  installPackage,
  repository,
  type Project,
} from '../support/package/installed.js';

let project: Project;
beforeAll(async () => {
  project = await installPackage();
  const consumer = readFileSync(join(repository, 'test/types/consumer/consumer.ts'), 'utf8');
  // Its types name those of the peer, which its users have; test/projects checks it with the peer.
  const alone = entryPoints.filter((entryPoint) => !entryPoint.endsWith('/otel'));
  const everything = alone.map(
    (entryPoint, index) => `export * as entryPoint${index} from '${entryPoint}';`,
  );
  for (const extension of ['mts', 'cts']) {
    await project.write(`consumer.${extension}`, consumer);
    await project.write(`entryPoints.${extension}`, everything.join('\n'));
    await project.write(`schemas.${extension}`, schemas);
  }
});
afterAll(() => project.remove());

const schemas = `
  import { media, messaging } from 'postreel/schemas';
  import * as z from 'zod';
  const both = z.object({ video: media.generate.video.body, list: messaging.contacts.list.query });
  export const known: z.ZodType = z.union([both, z.array(both)]);
  export const limit: z.infer<typeof both>['list']['limit'] = 10;
`;

/** Exports of a user's package, each made with one entry point. */
const libraries: Readonly<Record<string, string>> = {
  'postreel/messaging': `
    import { defineTemplate, defineWorkflow, filters, MessagingClient, type SendRequest } from 'postreel/messaging';
    interface Fields { plan: 'free' | 'pro'; seats: number }
    export const messaging = new MessagingClient<Fields>();
    export const { contacts, campaigns, workflows } = messaging;
    export const create = messaging.contacts.create({ email: 'ann@example.com' });
    export const update = (id: string) => messaging.contacts.update(id, { data: { seats: 2 } });
    export const all = messaging.contacts.list();
    export const found = async () => (await messaging.contacts.get('id')).data;
    export const condition = async (id: string) => (await messaging.segments.get(id)).condition;
    export const { where, and, or } = filters<Fields>();
    export const isPro = where('data.plan');
    export const data = (mail: SendRequest<Fields>) => mail.data;
    export const bulk = messaging.contacts.deleteAll;
    export const row = async () => (await messaging.segments.members.list('id').first())?.data;
    export const template = defineTemplate('Hi {{name ?? "there"}}');
    export const message = template.message({ name: 'Ann' });
    export const workflow = defineWorkflow({
      name: 'A', trigger: { event: 'a' }, steps: { end: { type: 'EXIT' } },
    });
    export const on = messaging.on('retry', console.log);`,
  'postreel/media': `
    import { MediaClient } from 'postreel/media';
    export const media = new MediaClient();
    export const { video, longAudio } = media.generate;
    export const queue = media.queue([]);
    export const file = media.waitForFile('file');
    export const safe = media.generate.audio({ content: 'Hi', voiceId: 'v' }).safe();`,
  'postreel/schemas': `
    import { media, messaging } from 'postreel/schemas';
    export const router = {
      send: { input: messaging.send.body, output: messaging.send.returns },
      create: messaging.contacts.create,
      video: media.generate.video,
    };
    export const all = [messaging, media];`,
  'postreel/webhooks': `
    import { createInbox, WebhookVerificationError } from 'postreel/webhooks';
    export const inbox = createInbox({ secret: '' });
    export const fields = (error: WebhookVerificationError) => [error.fieldErrors, error.outcome];`,
  'postreel/redis': `
    import { redisJournal, redisRateBudget, type RedisClient } from 'postreel/redis';
    export const stores = (redis: RedisClient) => [redisJournal(redis), redisRateBudget(redis)];`,
  'postreel/tracker': `
    import { createTracker } from 'postreel/tracker';
    export const tracker = createTracker<{ paid: { plan: string } }>({ baseUrl: '' });
    export const { track } = tracker;`,
  'postreel/tracker/react': `
    import { createTrackerHooks } from 'postreel/tracker/react';
    export const hooks = createTrackerHooks<{ paid: { plan: string } }>();`,
  'postreel/tracker/native': `
    import { createNativeTracker } from 'postreel/tracker/native';
    export const tracker = createNativeTracker({ baseUrl: '', storage: 'memory' });`,
};

const base = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  skipLibCheck: true,
  typeRoots: [join(repository, 'node_modules/@types')],
  types: ['node'],
};
const es = 'lib.es2022.d.ts';
const environments = {
  'Node alone': { lib: [es] },
  'Node and DOM': { lib: [es, 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'] },
  'DOM alone': { lib: [es, 'lib.dom.d.ts'], types: [] },
  'a worker': { lib: [es, 'lib.webworker.d.ts'], types: [] },
};

/** Reads each file once for all programs. */
const host = ts.createCompilerHost(base);
const read = host.getSourceFile.bind(host);
const known = new Map<string, ts.SourceFile | undefined>();
host.getSourceFile = (name, ...rest) => {
  if (!known.has(name)) {
    known.set(name, read(name, ...rest));
  }
  return known.get(name);
};

/** Type-checks files of the project, and all files that they import, with TypeScript 6. */
function check(files: readonly string[], options: ts.CompilerOptions = {}) {
  const rootNames = files.map((file) => join(project.folder, file));
  const program = ts.createProgram({ rootNames, options: { ...base, ...options }, host });
  const errors = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...program.getSourceFiles().flatMap((file) => problemsIn(file, program)),
  ].map(sentence);
  const names = program.getSourceFiles().map(({ fileName }) => fileName);
  return { errors, names };
}

/**
 * The errors in a file; checking the files of the compiler and of Node would take ten times as
 * long.
 */
function problemsIn(file: ts.SourceFile, program: ts.Program): readonly ts.Diagnostic[] {
  if (
    program.isSourceFileDefaultLibrary(file) ||
    /\/(@types\/node|undici-types)\//.test(file.fileName)
  ) {
    return [];
  }
  return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
}

function sentence({ file, messageText }: ts.Diagnostic): string {
  const where = file === undefined ? '' : `${relative(project.folder, file.fileName)}: `;
  return where + ts.flattenDiagnosticMessageText(messageText, '\n');
}

describe.each(['mts', 'cts'])('a consumer in .%s', (extension) => {
  it('reads no types of zod, and only those of its own format', () => {
    const { errors, names } = check([`consumer.${extension}`]);
    expect(errors).toEqual([]);
    expect(names.filter((name) => name.includes('/zod/'))).toEqual([]);
    const ours = names.filter((name) => name.startsWith(project.package));
    const folder = join(project.package, extension === 'mts' ? 'dist/esm' : 'dist/cjs');
    expect(ours).not.toEqual([]);
    expect(ours.filter((name) => !name.startsWith(folder))).toEqual([]);
  });

  it('combines the schemas of the package with its zod', () => {
    expect(check([`schemas.${extension}`]).errors).toEqual([]);
  });
});

describe('a package that exports values made with this one', () => {
  let strict: Project;
  let files = 0;
  beforeAll(async () => {
    strict = await installPackage({ isStrict: true, with: ['react'] });
  });
  afterAll(() => strict.remove());

  it.each(Object.entries(libraries))('can name each type of %s alone', async (_name, code) => {
    const options = { ...base, noEmit: false, declaration: true, emitDeclarationOnly: true };
    const main = await strict.write(`library-${files++}.mts`, code);
    const program = ts.createProgram({ rootNames: [main], options, host });
    const file = program.getSourceFile(main);
    const problems = [...problemsIn(file!, program), ...program.getDeclarationDiagnostics(file)];
    expect(problems.map(sentence)).toEqual([]);
  });
});

describe('consumers in .mts and .cts', () => {
  const files = ['mts', 'cts'].flatMap((kind) => [`consumer.${kind}`, `entryPoints.${kind}`]);

  it.each(Object.entries(environments))(
    'find no error in any entry point with %s, without skipLibCheck and without msw',
    (_name, options) => {
      expect(check(files, { ...options, skipLibCheck: false }).errors).toEqual([]);
    },
  );

  it('compile with TypeScript 7', async () => {
    const args = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext'];
    const types = ['--typeRoots', base.typeRoots[0] ?? '', '--types', 'node'];
    const tsc = join(repository, 'node_modules/typescript-7/bin/tsc');
    const program = [tsc, ...args, ...types, '--skipLibCheck', 'false', ...files];
    expect(await project.run(process.execPath, program)).toBe('');
  });
});
