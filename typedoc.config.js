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
  // test/package/public-names.test.ts says which types need a public name.
  validation: { notExported: false, notDocumented: true },
  // Fields of the wire carry the names of the service; what the SDK adds is described.
  requiredToBeDocumented: ['Class', 'Interface', 'Function', 'Method', 'TypeAlias'],
  intentionallyNotDocumented: [
    // Its comment is what keeps the import out of programs without msw.
    'testing.MswHandler',
  ],
  treatWarningsAsErrors: true,
  excludePrivate: true,
  excludeInternal: true,
};
