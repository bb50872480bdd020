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
    ...[
      'Transport',
      'JobWatch',
      'JobHost',
      'Spacing',
      'CampaignParts',
      'KnownFields',
      'ImportFields',
      'RowStream',
    ],
    // The types by which custom fields and filters are computed.
    ...['NotTransient', 'Written', 'Read', 'FilterStructure', 'Comparable', 'StatusSeen'],
    ...['Readable', 'Merged', 'FieldOf', 'VariableTexts'],
    ...['MethodsFor', 'NamesOf', 'routes', 'Schema', 'Notice'],
    ...['billing', 'executions', 'fields', 'members', 'steps', 'transitions'].map(
      (table) => `__object.${table}`,
    ),
  ],
  validation: { notDocumented: true },
  // Fields of the wire carry the names of the service; what the SDK adds is described.
  requiredToBeDocumented: ['Class', 'Interface', 'Function', 'Method', 'TypeAlias'],
  intentionallyNotDocumented: [
    // Its comment is what keeps the import out of programs without msw.
    'testing.MswHandler',
    // The rows of `postreel/schemas` are described where the schemas are.
    ...[
      ...['contacts.__type.create', 'contacts.__type.update', 'campaigns.__type.create'],
      ...['campaigns.__type.replace', 'workflows.__type.create', 'events.__type.track'],
      ...['track', 'send'],
    ].map((row) => `schemas.messaging.__type.${row}.__type.warnings`),
    'schemas.media.__type.generate.__type.video.__type.warnings',
  ],
  treatWarningsAsErrors: true,
  excludePrivate: true,
  excludeInternal: true,
};
