import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A code block of a document, ready to compile and run. */
export interface Snippet {
  readonly name: string;
  readonly code: string;
}

const block = /^```ts\n([\s\S]*?)^```/gm;

/** The documents whose snippets must compile and run. */
export function documents(): string[] {
  const chapters = readdirSync('docs').filter((name) => name.endsWith('.md'));
  return ['README.md', ...chapters.sort().map((name) => join('docs', name))];
}

/**
 * The TypeScript blocks of a Markdown file. In a chapter of `docs`, a block without clients of its
 * own finds `messaging` and `media` ready; a block of the README stands alone.
 */
export function snippetsOf(path: string): Snippet[] {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(block)].map(({ 1: code = '', index }) => {
    const line = text.slice(0, index).split('\n').length;
    // Without an import or export a file is no module, and only a module can await at its top.
    const start = path === 'README.md' ? '' : prelude(code); // each block of the README is a program
    return { name: `${path}:${line}`, code: `${start}${code}export {};\n` };
  });
}

function prelude(code: string): string {
  const clients = [
    ['messaging', 'MessagingClient'],
    ['media', 'MediaClient'],
  ] as const;
  const missing = clients.filter(
    ([name]) =>
      new RegExp(`(?<![./])\\b${name}\\s*\\.`).test(code) &&
      !new RegExp(`const ${name}\\b`).test(code),
  );
  return missing
    .map(
      ([name, type]) =>
        `import { ${type} as Own${type} } from 'postreel';\nconst ${name} = new Own${type}();\n`,
    )
    .join('');
}
