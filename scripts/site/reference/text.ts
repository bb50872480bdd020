import type { Comment, CommentDisplayPart, DeclarationReflection, SomeType } from 'typedoc';

/** Knows the address of each public name. */
export type AddressOf = (name: string) => string | undefined;

/** A comment without its tags, as Markdown. */
export function summaryOf(comment: Comment | undefined, addressOf: AddressOf): string {
  return comment === undefined ? '' : markdown(comment.summary, addressOf);
}

/** What stands behind a tag such as `@throws`, once for each time that it is used. */
export function tagsOf(comment: Comment | undefined, tag: `@${string}`, addressOf: AddressOf) {
  const blocks = comment?.blockTags.filter((block) => block.tag === tag) ?? [];
  return blocks.map(({ content }) => markdown(content, addressOf));
}

function markdown(parts: readonly CommentDisplayPart[], addressOf: AddressOf): string {
  const texts = parts.map((part) => {
    if (part.kind !== 'inline-tag') {
      return part.kind === 'code' ? part.text : prose(part.text);
    }
    const address = addressOf(part.text.trim());
    return address === undefined ? `\`${part.text}\`` : `[\`${part.text}\`](${address})`;
  });
  return texts.join('').trim();
}

/** Text outside of code, where Vue would read tags and braces. */
function prose(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;');
}

/** A cell of a table. */
export function cell(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replaceAll('|', String.raw`\|`)
    .trim();
}

/** A type as code; a link when it is one public name. */
export function typeText(type: SomeType | undefined, addressOf: AddressOf): string {
  const text = plainType(type);
  const name = /^(?:readonly )?(\w+)(?:<.*>)?(?:\[\])?$/.exec(text)?.[1] ?? '';
  const address = addressOf(name);
  return address === undefined ? inlineCode(text) : `[${inlineCode(text)}](${address})`;
}

const longestType = 160;

/** Code within a line; a type that fills the page is cut, since its page shows it whole. */
function inlineCode(text: string): string {
  const short = text.length > longestType ? `${text.slice(0, longestType)}…` : text;
  const fence = short.includes('`') ? '``' : '`';
  return `${fence}${short}${fence}`;
}

export function plainType(type: SomeType | undefined): string {
  return (type?.toString() ?? 'unknown').replace(/ \| undefined$/, '');
}

/** A table of fields, or nothing when there are none. */
export function fieldTable(
  fields: readonly DeclarationReflection[],
  addressOf: AddressOf,
): string | undefined {
  const shown = fields.filter((field) => !isForbidden(field));
  if (shown.length === 0) {
    return undefined;
  }
  const rows = shown.map((field) => {
    const comment = field.comment ?? field.signatures?.[0]?.comment ?? field.getSignature?.comment;
    const fallback = tagsOf(comment, '@default', addressOf)
      .map((value) => ` Default: \`${bare(value)}\`.`)
      .join('');
    const type = typeText(field.type ?? field.getSignature?.type, addressOf);
    const mark = field.flags.isOptional ? '' : '**';
    const cells = [`${mark}\`${field.name}\`${mark}`, type];
    return `| ${[...cells, summaryOf(comment, addressOf) + fallback].map(cell).join(' | ')} |`;
  });
  return ['| field | type | |', '| - | - | - |', ...rows].join('\n');
}

/** Fields that exist so that a mistake does not compile. */
function isForbidden({ name, type }: DeclarationReflection): boolean {
  return name.startsWith('[') || ['undefined', 'never'].includes(String(type));
}

function bare(value: string): string {
  return value
    .replace(/```\w*/g, '')
    .replaceAll('`', '')
    .trim();
}
