import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, LogLevel, TSConfigReader, TypeDocReader } from 'typedoc';
import { outOfSearch } from './pages.js';

/** Writes a page for every public name of every entry point, and the sidebar of these pages. */
export async function writeReference(pages: string): Promise<void> {
  const options = optionsFor(pages);
  const app = await Application.bootstrapWithPlugins(options, [
    new TypeDocReader(),
    new TSConfigReader(),
  ]);
  const project = await app.convert();
  if (project === undefined) {
    throw new Error('TypeDoc could not read the sources.');
  }
  await app.generateOutputs(project);
  const folder = `${pages}/reference`;
  writeFileSync(join(folder, 'index.md'), modulesPage());
  // The page of a module lists names, many of which it only re-exports: the search leaves it out.
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const path of paths
    .filter((name) => name.endsWith('index.md'))
    .map((name) => join(folder, name))) {
    writeFileSync(path, outOfSearch(readFileSync(path, 'utf8')));
  }
}

/** The modules in the order in which a reader needs them, each with its purpose. */
export const modules: readonly (readonly [name: string, purpose: string])[] = [
  ['postreel', 'Both clients, the errors, filters, templates and workflows as code.'],
  ['messaging', 'The messaging client alone: email, contacts, campaigns and workflows.'],
  ['media', 'The media client alone: video and speech.'],
  ['webhooks', 'Signs, verifies and receives the callbacks of the media service.'],
  ['testing', 'Fakes of both services for your tests.'],
  ['node', 'Files on disk: downloads, attachments, the journal and the rate limit of one machine.'],
  ['redis', 'The journal and the rate limit of many machines, in Redis.'],
  ['postgres', 'The journal and the rate limit of many machines, in Postgres.'],
  ['bullmq', 'Runs a media job in a worker of BullMQ.'],
  ['pg-boss', 'Runs a media job in a worker of pg-boss.'],
  ['otel', 'Traces and metrics of the calls, with OpenTelemetry.'],
  ['schemas', 'The zod schemas of the requests and the responses.'],
  ['tracker', 'Tracks events in web pages, with a public key.'],
  ['tracker/react', 'The tracker in React.'],
  ['tracker/native', 'The tracker in React Native.'],
  ['tracker/proxy', 'Receives the events of the tracker on your server.'],
  ['tracker/extras', 'Page views, a log of the events for debugging, and fields for every event.'],
];

/** The first page of the reference. */
export function modulesPage(): string {
  const rows = modules.map(([name, purpose]) => {
    const door = name === 'postreel' ? name : `postreel/${name}`;
    return `- [\`${door}\`](${name}/index.md): ${purpose}`;
  });
  return `# Reference\n\nImport from the first module, unless you need a smaller bundle or one of the others.\n\n${rows.join('\n')}\n`;
}

/** The order of a module in the sidebar. */
export function orderOf(name: string): number {
  return modules.findIndex(([module]) => module === name);
}

/** Beside `typedoc.config.js`; `npm run docs` checks the comments. */
function optionsFor(pages: string) {
  return {
    plugin: ['typedoc-plugin-markdown', 'typedoc-vitepress-theme'],
    docsRoot: pages,
    out: `${pages}/reference`,
    logLevel: LogLevel.Warn,
    validation: false,
    router: 'member',
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    tableColumnSettings: { hideInherited: true, hideModifiers: true, hideOverrides: true },
    // VitePress would give other anchors than GitHub, and the documents have GitHub's.
    useCustomAnchors: true,
    // Braces in comments are the services' own template syntax, and nothing for Vue.
    sanitizeComments: true,
  };
}
