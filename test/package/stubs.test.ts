import { join, relative } from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entryPoints, installPackage, type Project } from '../support/package/installed.js';

let project: Project;
beforeAll(async () => {
  project = await installPackage({ with: ['react'] });
});
afterAll(() => project.remove());

/** The entry points except the root, which any resolver finds. */
const folders = entryPoints.slice(1).map((entryPoint) => entryPoint.replace('postreel/', ''));

// Without `exports`, a folder is found by its path, as before `exports` existed.
describe('without support for `exports`', () => {
  it('Node requires each entry point by its folder', async () => {
    const code = `
      for (const folder of ${JSON.stringify(folders)}) {
        const [byFolder, byExports] = [require('./node_modules/postreel/' + folder), require('postreel/' + folder)];
        console.log(folder, byFolder === byExports);
      }`;
    const output = await project.run(process.execPath, [await project.write('old.cjs', code)]);
    expect(output.trim().split('\n')).toEqual(folders.map((folder) => `${folder} true`));
  });

  it.each(folders)('a bundler uses the ES module of %s', async (folder) => {
    const { metafile } = await build({
      stdin: {
        contents: `export * from './node_modules/postreel/${folder}';`,
        resolveDir: project.folder,
      },
      absWorkingDir: project.folder,
      bundle: true,
      write: false,
      metafile: true,
      platform: 'browser',
      packages: 'external',
      external: ['node:*'],
    });
    const file = `node_modules/postreel/dist/esm/${folder}/index.js`;
    expect(Object.keys(metafile.inputs)).toContain(file);
  });

  it.each(folders)('TypeScript finds the types of %s', (folder) => {
    const main = join(project.folder, 'main.ts');
    const { resolvedModule } = ts.nodeModuleNameResolver(`postreel/${folder}`, main, {}, ts.sys);
    const found = relative(project.package, resolvedModule?.resolvedFileName ?? '');
    expect(found).toBe(`dist/cjs/${folder}/index.d.ts`);
  });
});
