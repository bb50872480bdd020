import { Application, LogLevel, TSConfigReader, TypeDocReader } from 'typedoc';

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
