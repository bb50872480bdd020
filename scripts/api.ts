import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { entryPoints } from './entry-points.js';

export const page = 'docs/api.md';

/** Doors whose names say enough: the types behind them are written by zod. */
const namesOnly = new Set(['postreel/schemas']);

/** Lists every public name of every door, with its signature, from the built declarations. */
export async function describeApi(root = '.'): Promise<string> {
  const entries = entryPoints().map(({ name, entry }) => ({
    door: name.replace(/^\./, 'postreel'),
    file: resolve(root, `dist/cjs/${entry}.d.ts`),
  }));
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    {
      module: ts.ModuleKind.NodeNext,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      skipLibCheck: true,
      types: ['node'],
    },
  );
  const reader = new Reader(program, resolve(root, 'dist/cjs'));
  const sections = entries.map(({ door, file }) => `## ${door}\n\n${reader.door(door, file)}`);
  const style = await resolveConfig(page);
  return format(`${heading}\n${sections.join('\n\n')}\n`, { ...style, parser: 'markdown' });
}

const heading = `# Public names

Made by \`npm run api\` from the built declarations; a test compares it. A change here is a change
that users see. A name that several doors export is described at the first of them.
`;

class Reader {
  readonly #checker: ts.TypeChecker;
  readonly #program: ts.Program;
  readonly #home: string;
  readonly #seen = new Map<ts.Symbol, string>();
  readonly #printer = ts.createPrinter({ removeComments: true });

  constructor(program: ts.Program, home: string) {
    this.#program = program;
    this.#checker = program.getTypeChecker();
    this.#home = home;
  }

  door(door: string, file: string): string {
    const module = this.#checker.getSymbolAtLocation(this.#program.getSourceFile(file)!);
    if (module === undefined) {
      throw new Error(`${file} is not there: run npm run build first.`);
    }
    const exported = this.#checker
      .getExportsOfModule(module)
      .map((symbol) => ({ name: symbol.name, symbol: this.#resolve(symbol) }))
      .sort((one, other) => compare(one.name, other.name));
    if (namesOnly.has(door)) {
      return exported.map(({ name }) => `\`${name}\``).join(', ');
    }
    const fresh = exported.filter(({ symbol }) => !this.#seen.has(symbol));
    const known = exported.filter(({ symbol }) => this.#seen.has(symbol));
    fresh.forEach(({ symbol }) => this.#seen.set(symbol, door));
    const code = fresh.map(({ name, symbol }) => this.#declare(name, symbol)).join('\n');
    return [code && `\`\`\`typescript\n${code}\n\`\`\``, this.#list(known)]
      .filter(Boolean)
      .join('\n\n');
  }

  #list(known: readonly { name: string; symbol: ts.Symbol }[]): string {
    return [...new Set(this.#seen.values())]
      .map((door) => ({
        door,
        names: known.filter(({ symbol }) => this.#seen.get(symbol) === door),
      }))
      .filter(({ names }) => names.length > 0)
      .map(
        ({ door, names }) => `From ${door}: ${names.map(({ name }) => `\`${name}\``).join(', ')}.`,
      )
      .join('\n\n');
  }

  #resolve(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  #declare(name: string, symbol: ts.Symbol): string {
    return (symbol.declarations ?? [])
      .map((node) => {
        if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) {
          return this.#members(name, node, symbol);
        }
        const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node;
        return this.#print(statement).replace(/^export (declare )?(default )?/, '');
      })
      .join('\n');
  }

  #members(name: string, node: ts.ClassDeclaration | ts.InterfaceDeclaration, symbol: ts.Symbol) {
    const kind = ts.isClassDeclaration(node) ? 'declare class' : 'interface';
    const generics = node.typeParameters?.map((one) => this.#print(one)).join(', ');
    const heritage = (node.heritageClauses ?? [])
      .filter(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
      .map((one) => this.#print(one))
      .join(' ');
    const own = [...this.#bases(symbol)].flatMap((base) => base.declarations ?? []);
    const lines = own
      .filter((one) => ts.isClassDeclaration(one) || ts.isInterfaceDeclaration(one))
      .flatMap((one) => [...one.members].filter((member) => one === node || !isConstructor(member)))
      .filter((member) => !this.#isHidden(member))
      .map((member) => this.#print(member))
      .sort((one, other) => compare(sortKey(one), sortKey(other)));
    const title = `${kind} ${name}${generics ? `<${generics}>` : ''} ${heritage}`;
    return `${title} {\n${[...new Set(lines)].join('\n')}\n}`;
  }

  /** The symbol itself and the bases that no door exports: their members are its own to a user. */
  *#bases(symbol: ts.Symbol): Generator<ts.Symbol> {
    yield symbol;
    for (const base of this.#checker.getDeclaredTypeOfSymbol(symbol).getBaseTypes() ?? []) {
      const file = base.symbol.declarations?.[0]?.getSourceFile().fileName ?? '';
      if (file.startsWith(this.#home) && !this.#seen.has(base.symbol)) {
        yield* this.#bases(base.symbol);
      }
    }
  }

  #isHidden(member: ts.ClassElement | ts.TypeElement): boolean {
    const isPrivate = ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private;
    return isPrivate !== 0 || (member.name !== undefined && ts.isPrivateIdentifier(member.name));
  }

  #print(node: ts.Node): string {
    return this.#printer
      .printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())
      .replace(/import\("[^"]+"\)\./g, '')
      .trim();
  }
}

function isConstructor(member: ts.ClassElement | ts.TypeElement): boolean {
  return ts.isConstructorDeclaration(member);
}

/** By code unit, so that the order is the same on every machine. */
function compare(one: string, other: string): number {
  if (one === other) {
    return 0;
  }
  return one < other ? -1 : 1;
}

/** Constructors first, then by name, whatever the modifiers. */
function sortKey(member: string): string {
  return member.startsWith('constructor')
    ? ''
    : member.replace(/^((static|readonly|get|set|protected|abstract|override) )+/, '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = await describeApi(process.argv[2]);
  const isChanged = !existsSync(page) || text !== readFileSync(page, 'utf8');
  writeFileSync(page, text);
  console.log(`${page}: ${isChanged ? 'changed' : 'unchanged'}`);
}
