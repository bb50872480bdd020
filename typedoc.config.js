import { readFileSync } from 'node:fs';
import { OptionDefaults } from 'typedoc';

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));

/** @type {Partial<import('typedoc').TypeDocOptions>} */
export default {
  // Every door of the package.
  entryPoints: Object.values(exports)
    .filter((door) => typeof door !== 'string')
    .map((door) => door.import.types.replace('./dist/esm/', 'src/').replace(/\.d\.ts$/, '.ts')),
  tsconfig: 'tsconfig.build.json',
  out: 'docs/reference',
  readme: 'none',
  disableSources: true,
  blockTags: [...OptionDefaults.blockTags, '@ts-ignore'],
  excludeTags: [...OptionDefaults.excludeTags, '@ts-ignore'],
  // What the clients hand to the resources they make, and the tables behind them.
  intentionallyNotExported: [
    ...['Transport', 'JobWatch', 'JobHost', 'Download'],
    ...['MethodsFor', 'NamesOf', 'routes', 'Schema'],
    ...['billing', 'executions', 'fields', 'members', 'steps', 'transitions'].map(
      (table) => `__object.${table}`,
    ),
  ],
  treatWarningsAsErrors: true,
  excludePrivate: true,
  excludeInternal: true,
};
