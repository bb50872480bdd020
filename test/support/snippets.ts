import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A code block of a document, ready to compile and run. */
export interface Snippet {
  readonly name: string;
  readonly code: string;
}

const block = /^(?<!-->\n\n)```ts\n([\s\S]*?)^```/gm;
const copy = /^<!-- from (\S+) -->\n\n```\w+\n([\s\S]*?)^```/gm;

/** The documents whose snippets must compile and run. */
export function documents(): string[] {
  return ['README.md', ...chaptersIn('docs'), ...chaptersIn('docs/recipes')];
}

function chaptersIn(folder: string): string[] {
  const chapters = readdirSync(folder).filter((name) => name.endsWith('.md'));
  return chapters.sort().map((name) => join(folder, name));
}

/** The blocks of a document that say which file they are copied from. */
export function copiesIn(path: string): { readonly file: string; readonly code: string }[] {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(copy)].map(([, file = '', code = '']) => ({ file, code }));
}

/**
 * The TypeScript blocks of a Markdown file, without those copied from a file that is tested itself.
 * In a chapter of `docs`, a block without clients of its own finds `messaging` and `media` ready; a
 * block of the README or of a recipe stands alone.
 */
export function snippetsOf(path: string): Snippet[] {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(block)].map(({ 1: code = '', index }) => {
    const line = text.slice(0, index).split('\n').length;
    // Without an import or export a file is no module, and only a module can await at its top.
    const standsAlone = path === 'README.md' || path.startsWith('docs/recipes/');
    const start = standsAlone ? '' : prelude(code);
    return { name: `${path}:${line}`, code: `${start}${code}export {};\n` };
  });
}

/** Every program of the examples and the documents, by its file and its place there: `README.md 1`. */
export function programs(): Snippet[] {
  const examples = readdirSync('examples')
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('examples', name));
  return [
    ...examples.map((path) => ({ name: path, code: readFileSync(path, 'utf8') })),
    ...documents().flatMap((path) =>
      snippetsOf(path).map(({ code }, place) => ({ name: `${path} ${place + 1}`, code })),
    ),
  ];
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
