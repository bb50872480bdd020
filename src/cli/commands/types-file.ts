/** The parts of a project that a program depends on. */
export interface PulledTypes {
  /** Custom fields by their names without `data.`, sorted. */
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  readonly events: readonly string[];
  readonly templates: readonly PulledTemplate[];
}

/** A template with the variables of its subject and body. */
export interface PulledTemplate {
  readonly id: string;
  readonly name: string;
  /** Without a fallback. */
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

const header = `// Written by \`npx postreel pull\`. Do not edit it: run the command again.
`;

/** The types as a TypeScript module; the same project gives the same text. */
export function writeTypes({ fields, events, templates }: PulledTypes): string {
  const lines = [
    '/** The custom fields of contacts: `new MessagingClient<Fields>()`. */',
    'export interface Fields {',
    ...fields.map(({ name, type }) => `  ${propertyOf(name)}: ${typeOf(type)};`),
    '}',
    '',
    events.length > 0
      ? '/** The names of tracked events. */'
      : '/** No event was tracked yet: any name. */',
    `export type EventName = ${unionOf(events)};`,
    '',
    '/** What a variable of a template may be. */',
    'export type TemplateValue = string | number | boolean | null;',
    '',
    '/** The data that each template asks for, by its id. */',
    'export interface Templates {',
    ...templates.flatMap(templateLines),
    '}',
  ];
  return `${header}\n${lines.join('\n')}\n`;
}

/** The differences between a file and the project: removed lines and new lines. */
export function driftOf(file: string, current: string): readonly string[] {
  const before = linesOf(file);
  const after = linesOf(current);
  const gone = before.filter((line) => !after.includes(line)).map((line) => `- ${line.trim()}`);
  const added = after.filter((line) => !before.includes(line)).map((line) => `+ ${line.trim()}`);
  return [...gone, ...added];
}

function templateLines({ id, name, required, optional }: PulledTemplate): string[] {
  const variables = [
    ...required.map((path) => `${propertyOf(path)}: TemplateValue`),
    ...optional.map((path) => `${propertyOf(path)}?: TemplateValue`),
  ];
  const data = variables.length === 0 ? 'object' : `{ ${variables.join('; ')} }`;
  // The name of a template may contain the mark that ends a comment.
  return [`  /** ${name.replaceAll('*/', '* /')} */`, `  ${propertyOf(id)}: ${data};`];
}

function unionOf(names: readonly string[]): string {
  return names.length === 0 ? 'string' : names.map((name) => JSON.stringify(name)).join(' | ');
}

function propertyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function typeOf(type: string): string {
  const known: Readonly<Record<string, string>> = {
    string: 'string',
    number: 'number',
    boolean: 'boolean',
    date: 'Date',
  };
  return (Object.hasOwn(known, type) ? known[type] : undefined) ?? 'string | number | boolean';
}

/** Returns the lines to compare: without comments, indentation and the style of quotes. */
function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replaceAll("'", '"'))
    .filter((line) => line !== '' && !line.startsWith('//'));
}
