import { resolve } from 'node:path';
import ts from 'typescript';
import { entryPoints } from '../../../scripts/entry-points.js';

/**
 * The interfaces and classes that a user can reach through the public values, but that no entry
 * point exports: declarations of the user's own exports could not name them.
 */
export function namelessTypes(): string[] {
  const files = entryPoints().map(({ entry }) => resolve(`dist/esm/${entry}.d.ts`));
  const options = { module: ts.ModuleKind.NodeNext, skipLibCheck: true, types: ['node'] };
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  const exported = files.flatMap((file) => exportsOf(program.getSourceFile(file), checker));
  const walk = new Walk(checker, new Set(exported));
  for (const symbol of exported) {
    walk.value(symbol);
  }
  return [...walk.nameless].sort();
}

function exportsOf(file: ts.SourceFile | undefined, checker: ts.TypeChecker): ts.Symbol[] {
  const module = file && checker.getSymbolAtLocation(file);
  return checker
    .getExportsOfModule(module ?? missing())
    .map((one) => (one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one));
}

function missing(): never {
  throw new Error('The declarations are not there: run npm run build first.');
}

class Walk {
  readonly nameless = new Set<string>();
  readonly #checker: ts.TypeChecker;
  readonly #exported: ReadonlySet<ts.Symbol>;
  readonly #seen = new Set<ts.Type>();

  constructor(checker: ts.TypeChecker, exported: ReadonlySet<ts.Symbol>) {
    this.#checker = checker;
    this.#exported = exported;
  }

  /** The type of an exported name: its instances if it is a class or a type. */
  value(symbol: ts.Symbol): void {
    if (symbol.flags & ts.SymbolFlags.Type) {
      this.#type(this.#checker.getDeclaredTypeOfSymbol(symbol), symbol.name);
    } else {
      this.#type(this.#checker.getTypeOfSymbol(symbol), symbol.name);
    }
  }

  #type(type: ts.Type, from: string): void {
    if (this.#seen.has(type)) {
      return;
    }
    this.#seen.add(type);
    this.#alias(type, from);
    if (type.isUnionOrIntersection()) {
      type.types.forEach((one) => this.#type(one, from));
    } else if (type.flags & (ts.TypeFlags.TypeParameter | ts.TypeFlags.Conditional)) {
      this.#optional(this.#checker.getBaseConstraintOfType(type), from);
    } else if (type.flags & ts.TypeFlags.Object) {
      this.#object(type as ts.ObjectType, from); // as: its flag says so
    }
  }

  /** Declarations name an alias that its file exports, instead of expanding it. */
  #alias({ aliasSymbol: alias, aliasTypeArguments = [] }: ts.Type, from: string): void {
    const [declaration] = alias?.declarations ?? [];
    if (!alias || !declaration || !isOurs(declaration)) {
      return;
    }
    if ((ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Export) !== 0) {
      if (!this.#exported.has(alias)) {
        this.nameless.add(`${alias.name} (of ${from})`);
      }
      aliasTypeArguments.forEach((one) => this.#type(one, from));
    }
  }

  #object(type: ts.ObjectType, from: string): void {
    const isReference = (type.objectFlags & ts.ObjectFlags.Reference) !== 0;
    if (isReference) {
      const reference = type as ts.TypeReference; // as: its flag says so
      this.#checker.getTypeArguments(reference).forEach((one) => this.#type(one, from));
    }
    const symbol = type.getSymbol();
    if (symbol?.declarations?.some((one) => !isOurs(one))) {
      return;
    }
    const isNamed = symbol && symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface);
    if (isNamed && !this.#exported.has(symbol)) {
      this.nameless.add(`${symbol.name} (of ${from})`);
    }
    const place = isNamed ? symbol.name : from;
    for (const property of this.#checker.getPropertiesOfType(type)) {
      if (!isPrivate(property)) {
        this.#type(this.#checker.getTypeOfSymbol(property), place);
      }
    }
    for (const signature of type.getCallSignatures()) {
      const parameters = signature.getParameters();
      parameters.forEach((one) => this.#type(this.#checker.getTypeOfSymbol(one), place));
      this.#type(signature.getReturnType(), place);
    }
    this.#optional(type.getStringIndexType(), place);
  }

  #optional(type: ts.Type | undefined, from: string): void {
    if (type !== undefined) {
      this.#type(type, from);
    }
  }
}

function isOurs(declaration: ts.Declaration): boolean {
  return declaration.getSourceFile().fileName.startsWith(resolve('dist'));
}

function isPrivate({ name, declarations = [] }: ts.Symbol): boolean {
  return (
    name.startsWith('__#') ||
    declarations.some((one) => (ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Private) !== 0)
  );
}
