import type { DataValue, ReservedKey, Transient } from '../shared/data.js';

/** A value that a template can show. */
export type TemplateValue = DataValue | Transient;

/**
 * The data that a template text asks for: a variable without a fallback is required, one with a
 * fallback is optional. What the service fills in itself (`{{email}}`, `{{unsubscribeUrl}}`) is left
 * out. A text that is not known at compile time takes any data.
 */
export type TemplateData<Text extends string> = string extends Text
  ? Readonly<Record<string, TemplateValue | undefined>>
  : Readable<Merged<FieldOf<VariableTexts<Text>>>>;

// The texts between the braces, as a union. An accumulator makes the recursion a loop.
type VariableTexts<
  Text extends string,
  Found = never,
> = Text extends `${string}{{${infer Inside}}}${infer Rest}`
  ? VariableTexts<Rest, Found | Inside>
  : Found;

// A union of functions becomes an intersection: each variable contributes its field.
type FieldOf<Inside> = Inside extends string
  ? Inside extends `${infer Path}??${string}`
    ? { field: WithFallback<Trimmed<Path>> }
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

// Blocks, comments, partials and helpers of other template languages.
type NotAVariable =
  | ''
  | `${'#' | '/' | '>' | '!' | '^' | '&' | '{'}${string}`
  | `${string}${' ' | '|' | '('}${string}`;

type Trimmed<Text extends string> = Text extends ` ${infer Rest}`
  ? Trimmed<Rest>
  : Text extends `${infer Rest} `
    ? Trimmed<Rest>
    : Text;

// One object with all fields reads better in an error than an intersection of many.
type Readable<Fields> = { readonly [Key in keyof Fields]: Fields[Key] };
