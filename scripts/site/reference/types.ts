import { ReflectionKind, type DeclarationReflection, type SignatureReflection } from 'typedoc';
import type { PublicName } from './project.js';
import { fieldTable, plainType, summaryOf, tagsOf, typeText, type AddressOf } from './text.js';

/** The section of a public name: what it is for, its members, an example. */
export function describeName({ name, door, reflection }: PublicName, addressOf: AddressOf): string {
  const isFrom = door === 'postreel' ? '' : `Import it from \`${door}\`.`;
  const comment = reflection.comment ?? reflection.signatures?.[0]?.comment;
  return [
    `### ${name} {#${name}}`,
    [summaryOf(comment, addressOf), isFrom].filter(Boolean).join(' '),
    ...bodyOf(reflection, addressOf),
    ...tagsOf(comment, '@example', addressOf).map(exampleBlock),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function bodyOf(reflection: DeclarationReflection, addressOf: AddressOf): string[] {
  const { kind, name } = reflection;
  switch (kind) {
    case ReflectionKind.Interface:
    case ReflectionKind.Class:
      return membersOf(reflection, addressOf);
    case ReflectionKind.Function:
      return [code((reflection.signatures ?? []).map((one) => `function ${signature(one)}`))];
    case ReflectionKind.TypeAlias:
      return [code([`type ${name}${generics(reflection)} = ${plainType(reflection.type)}`])];
    default:
      return [code([`const ${name}: ${plainType(reflection.type)}`])];
  }
}

function membersOf(reflection: DeclarationReflection, addressOf: AddressOf): string[] {
  const isClass = reflection.kind === ReflectionKind.Class;
  const members = (reflection.children ?? []).filter(
    ({ flags, inheritedFrom }) => !flags.isPrivate && !(isClass && inheritedFrom),
  );
  const fields = members.filter(({ signatures }) => signatures === undefined);
  const methods = members.filter(({ signatures }) => signatures !== undefined);
  const bases = (reflection.extendedTypes ?? []).map((base) => typeText(base, addressOf));
  return [
    bases.length > 0 ? `Extends ${bases.join(', ')}.` : '',
    fieldTable(fields, addressOf) ?? '',
    ...methods.map((method) => describeMember(method, addressOf)),
  ];
}

function describeMember(method: DeclarationReflection, addressOf: AddressOf): string {
  const signatures = method.signatures ?? [];
  const text = summaryOf(signatures.find(({ comment }) => comment)?.comment, addressOf);
  return [code(signatures.map((one) => signature(one))), text].filter(Boolean).join('\n\n');
}

/** A signature as code; long ones get a line for each parameter. */
export function signature(one: SignatureReflection, owner = ''): string {
  const isConstructor = one.kind === ReflectionKind.ConstructorSignature;
  const name = isConstructor ? `new ${one.parent.parent?.name ?? ''}` : `${owner}${one.name}`;
  const parameters = (one.parameters ?? []).map(({ name: own, type, flags, defaultValue }) => {
    const isOptional = flags.isOptional || defaultValue !== undefined;
    return `${flags.isRest ? '...' : ''}${own}${isOptional ? '?' : ''}: ${plainType(type)}`;
  });
  const line = `${name}(${parameters.join(', ')}): ${plainType(one.type)}`;
  const isLong = line.length > 72;
  return isLong ? `${name}(\n  ${parameters.join(',\n  ')},\n): ${plainType(one.type)}` : line;
}

function generics({ typeParameters = [] }: DeclarationReflection): string {
  const names = typeParameters.map(({ name }) => name);
  return names.length === 0 ? '' : `<${names.join(', ')}>`;
}

function code(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\`\`\`typescript\n${lines.join('\n')}\n\`\`\``;
}

function exampleBlock(text: string): string {
  return text.startsWith('```') ? text : code([text]);
}
