import {
  Application,
  ReflectionKind,
  TSConfigReader,
  TypeDocReader,
  type DeclarationReflection,
  type TypeDocOptions,
} from 'typedoc';

/** A public name with the file that it comes from. */
export interface PublicName {
  readonly name: string;
  /** The door that it is imported from. */
  readonly door: string;
  /** The file below `src/`. */
  readonly file: string;
  readonly reflection: DeclarationReflection;
}

/** Beside `typedoc.config.js`. The comments are checked by `npm run docs`. */
const options: Partial<TypeDocOptions> = {
  validation: false,
  treatWarningsAsErrors: false,
  disableSources: false,
  disableGit: true,
  sourceLinkTemplate: '{path}',
  sort: ['source-order'],
};

/** Every public name once, at the first door that has it, from the comments and types of the source. */
export async function publicNames(): Promise<PublicName[]> {
  const readers = [new TypeDocReader(), new TSConfigReader()];
  const app = await Application.bootstrap(options, readers);
  const project = await app.convert();
  if (project === undefined) {
    throw new Error('TypeDoc could not read the sources.');
  }
  const modules = [...(project.children ?? [])].sort(mainFirst);
  return modules.flatMap((module) =>
    (module.children ?? [])
      .filter(({ kind }) => kind !== ReflectionKind.Reference)
      .map((reflection) => ({
        name: reflection.name,
        door: module.name === 'index' ? 'postreel' : `postreel/${module.name}`,
        file: reflection.sources?.[0]?.fullFileName.split('/src/').at(-1) ?? '',
        reflection,
      })),
  );
}

function mainFirst(one: { name: string }, other: { name: string }): number {
  return Number(other.name === 'index') - Number(one.name === 'index');
}
