import { readFileSync } from 'node:fs';

/** A code block of a document, ready to compile and run. */
export interface Snippet {
  readonly name: string;
  readonly code: string;
}

const block = /^```ts\n([\s\S]*?)^```/gm;

/**
 * The TypeScript blocks of a Markdown file. A block without clients of its own finds `messaging`
 * and `media` ready, as the text around it says.
 */
export function snippetsOf(path: string): Snippet[] {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(block)].map(({ 1: code = '', index }) => {
    const line = text.slice(0, index).split('\n').length;
    return { name: `${path}:${line}`, code: prelude(code) + code };
  });
}

function prelude(code: string): string {
  const clients = [
    ['messaging', 'MessagingClient'],
    ['media', 'MediaClient'],
  ] as const;
  const missing = clients.filter(
    ([name]) =>
      new RegExp(`\\b${name}\\.`).test(code) && !new RegExp(`const ${name}\\b`).test(code),
  );
  return missing
    .map(
      ([name, type]) =>
        `import { ${type} as Own${type} } from 'postreel';\nconst ${name} = new Own${type}();\n`,
    )
    .join('');
}
