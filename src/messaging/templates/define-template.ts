import type { ReservedKey, DataValue, Transient } from '../shared/data.js';
import {
  renderText,
  variablesOf,
  type RenderedTemplate,
  type TemplateVariables,
} from '../shared/template-text.js';

/** The subject and HTML body of an email, with variables such as `{{name ?? "there"}}`. */
export interface TemplateContent {
  readonly subject: string;
  readonly body: string;
}

/** Values for the preview of variables that the service fills in itself, e.g. `{{unsubscribeUrl}}`. */
type ServiceVariableValues = { readonly [Key in ReservedKey]?: TemplateValue | undefined };

/** Makes each field that is not a variable of the template a compile error. */
type OnlyAsked<Data, Text extends string> = {
  readonly [Key in Exclude<keyof Data, keyof TemplateData<Text>>]: never;
};

/** A template text whose data is typed by its variables. */
export interface DefinedTemplate<Text extends string> extends TemplateVariables {
  readonly text: Text;
  /** Fills in the text locally, as a preview. */
  render(data: TemplateData<Text> & ServiceVariableValues): RenderedTemplate;
  /** The `body` and `data` of a send, to spread into it. The data keeps its type, for typed clients. */
  message<const Data extends TemplateData<Text>>(
    data: Data & OnlyAsked<Data, Text>,
  ): { readonly body: Text; readonly data: Data };
}

/** A subject and body whose data is typed by their variables. */
export interface DefinedContent<Text extends string> extends TemplateVariables, TemplateContent {
  /** Fills in both texts locally, as a preview. */
  render(data: TemplateData<Text> & ServiceVariableValues): {
    readonly subject: RenderedTemplate;
    readonly body: RenderedTemplate;
  };
  /** The `subject`, `body` and `data` of a send, to spread into it. The data keeps its type. */
  message<const Data extends TemplateData<Text>>(
    data: Data & OnlyAsked<Data, Text>,
  ): TemplateContent & { readonly data: Data };
}

/**
 * Types the data of an email by the variables of its text. A variable without a fallback is required.
 * @example
 * const welcome = defineTemplate({ subject: 'Welcome, {{name}}', body: '<p>{{plan ?? "free"}}</p>' });
 * await messaging.send({ from, to, ...welcome.message({ name: 'Ann' }) });
 */
export function defineTemplate<const Text extends string>(text: Text): DefinedTemplate<Text>;
export function defineTemplate<const Subject extends string, const Body extends string>(content: {
  readonly subject: Subject;
  readonly body: Body;
}): DefinedContent<`${Subject}\n${Body}`>;
export function defineTemplate(
  template: string | TemplateContent,
): DefinedTemplate<string> | DefinedContent<string> {
  return typeof template === 'string' ? textTemplate(template) : contentTemplate(template);
}

function textTemplate(text: string): DefinedTemplate<string> {
  return {
    ...variablesOf(text),
    text,
    render: (data) => renderText(text, data),
    message: (data) => ({ body: text, data }),
  };
}

function contentTemplate({ subject, body }: TemplateContent): DefinedContent<string> {
  return {
    // Joined by a line break, so that no variable can begin in the subject and end in the body.
    ...variablesOf(`${subject}\n${body}`),
    subject,
    body,
    render: (data) => ({ subject: renderText(subject, data), body: renderText(body, data) }),
    message: (data) => ({ subject, body, data }),
  };
}

/** A value that a template can show. */
export type TemplateValue = DataValue | Transient;

/**
 * The data of a template text. A variable without a fallback is required, and a variable with a fallback is
 * optional. Variables that the service fills in itself (`{{email}}`, `{{unsubscribeUrl}}`) are left out. A text
 * that is not known at compile time accepts any data.
 */
export type TemplateData<Text extends string> = string extends Text
  ? Readonly<Record<string, TemplateValue | undefined>>
  : Readable<Merged<FieldOf<VariableTexts<Text>>>>;

// The texts between the braces, as a union. With an accumulator, the compiler runs the recursion as a loop.
type VariableTexts<
  Text extends string,
  Found = never,
> = Text extends `${string}{{${infer Inside}}}${infer Rest}`
  ? VariableTexts<Rest, Found | Inside>
  : Found;

// A union of functions becomes an intersection: each variable contributes its field.
type FieldOf<Inside> = Inside extends string
  ? Inside extends `${infer Path}??${infer Fallback}`
    ? { field: Trimmed<Fallback> extends Quoted ? WithFallback<Trimmed<Path>> : unknown }
    : { field: Needed<Trimmed<Inside>> }
  : never;

type Merged<Fields> = (
  Fields extends { field: infer Field } ? (field: Field) => void : never
) extends (field: infer All) => void
  ? All
  : object;

type Needed<Path extends string> = Path extends NotAVariable | OfTheService
  ? unknown
  : Path extends `${infer Head}.${infer Tail}`
    ? { [Key in Head]: Needed<Tail> }
    : { [Key in Path]: TemplateValue };

type WithFallback<Path extends string> = Path extends NotAVariable | OfTheService
  ? unknown
  : Path extends `${infer Head}.${infer Tail}`
    ? { [Key in Head]?: WithFallback<Tail> | undefined }
    : { [Key in Path]?: TemplateValue | undefined };

type OfTheService = ReservedKey | `${ReservedKey}.${string}`;

// The characters of blocks, comments, partials and helpers of other template languages. The check at run time uses
// the same characters. A name may contain spaces, as the columns of a spreadsheet do.
type Forbidden =
  '{' | '}' | '?' | '|' | '#' | '/' | '^' | '>' | '!' | '&' | '"' | "'" | '(' | ')' | '\n' | '\t';

type NotAVariable = '' | `${string}${Forbidden}${string}`;

type Quoted = `"${string}"` | `'${string}'`;

type Space = ' ' | '\n' | '\t';

type Trimmed<Text extends string> = Text extends `${Space}${infer Rest}`
  ? Trimmed<Rest>
  : Text extends `${infer Rest}${Space}`
    ? Trimmed<Rest>
    : Text;

// Error messages are easier to read with one object of all fields than with an intersection of many.
type Readable<Fields> = { readonly [Key in keyof Fields]: Fields[Key] };
