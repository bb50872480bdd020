/**
 * Compiles each mistake of `mistakes.json` in a separate file. Each must be one short error whose last line names the
 * property that is wrong. Prints the errors that do not, and fails.
 */
const { spawnSync } = require('node:child_process');
const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, join, resolve } = require('node:path');

const { head, mistakes } = JSON.parse(readFileSync(join(__dirname, 'mistakes.json'), 'utf8'));
const maxLines = 6;
const maxLength = 400;

/** Returns the mistakes that a compiler reports badly. `paths` are those of the sources, if the package is not installed. */
function badMessages(compiler, folder, paths) {
  mkdirSync(folder, { recursive: true });
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    resolveJsonModule: true,
    skipLibCheck: true,
    noEmit: true,
    ...(paths && { paths, rootDir: resolve('.') }),
  };
  const files = mistakes.map((_, index) => `mistake-${index}.ts`);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  mistakes.forEach(({ line }, index) => {
    writeFileSync(join(folder, files[index]), [...head, line, 'export {};'].join('\n'));
  });
  const args = [compiler, '-p', folder, '--pretty', 'false'];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  // Each error begins in a line without an indent.
  const errors = stdout.split(/\n(?=\S)/).map((error) => error.trimEnd());
  return mistakes.flatMap(({ mistake, message }, index) => {
    const isHere = new RegExp(`mistake-${index}\\.ts\\(${head.length + 1},\\d+\\): error TS\\d+: `);
    const found = errors.filter((error) => isHere.test(error));
    const lines = (found[0] ?? '').replace(/^.*?: error TS\d+: /, '').split('\n');
    const last = lines.at(-1).trim();
    const isGood =
      found.length === 1 &&
      lines.length <= maxLines &&
      last.length <= maxLength &&
      new RegExp(message).test(last) &&
      // A list of overloads says first that none fits, which names nothing.
      !lines[0].startsWith('No overload');
    return isGood ? [] : [`${mistake}:\n${found.join('\n') || 'compiles'}`];
  });
}

module.exports = { badMessages };

if (require.main === module) {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  const found = badMessages(compiler, join(__dirname, 'mistakes'));
  console.log(found.join('\n\n'));
  process.exitCode = found.length === 0 ? 0 : 1;
}
