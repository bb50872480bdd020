/**
 * Draws `docs/images/cli.svg`, what a terminal shows when the command is used on the fakes:
 * `npx tsx scripts/draw/terminal.ts`.
 */
import { writeFileSync } from 'node:fs';
import { inTerminal } from '../../test/support/cli/command.js';
import { startScene } from '../../test/support/cli/scene.js';
import { screenOf, type Run } from '../../test/support/cli/screen.js';

/** What is typed, and what is answered to the question that it asks. */
const commands: readonly {
  readonly line: string;
  readonly args: string[];
  readonly answer?: string;
}[] = [
  { line: 'postreel doctor', args: ['doctor'] },
  {
    line: "postreel send --from shop@example.com --to ann@example.com --subject Hi --body '<p>Hi</p>'",
    args: [
      'send',
      '--from',
      'shop@example.com',
      '--to',
      'ann@example.com',
      '--subject',
      'Hi',
      '--body',
      '<p>Hi</p>',
    ],
    answer: 'y',
  },
  {
    line: "postreel video --idea 'Why cats purr' --voice voice_1 --out cats.mp4 --yes",
    args: ['video', '--idea', 'Why cats purr', '--voice', 'voice_1', '--out', 'cats.mp4', '--yes'],
  },
];
const columns = 96;

const [lineHeight, charWidth, padding] = [19, 7.8, 16] as const;
const colors: Readonly<Record<number, string>> = {
  1: '#f87171',
  2: '#4ade80',
  3: '#facc15',
  6: '#22d3ee',
};

const scene = await startScene();
const lines: Run[][] = [];
for (const { line, args, answer } of commands) {
  const terminal = inTerminal(args, { env: scene.env, cwd: scene.folder, columns });
  if (answer !== undefined) {
    await terminal.until('[y/N]');
    terminal.type(`${answer}\r`);
  }
  await terminal.ended;
  const typed = { text: `$ ${line}`, bold: true, dim: false, color: 6 };
  lines.push([typed], ...(await screenOf(terminal.written, columns)), []);
}
await scene.server.close();
writeFileSync('docs/images/cli.svg', draw(lines.slice(0, -1)));

function draw(shown: readonly Run[][]): string {
  const [width, height] = [
    columns * charWidth + 2 * padding,
    shown.length * lineHeight + 2 * padding,
  ];
  const texts = shown.map(
    (line, row) =>
      `<text x="${padding}" y="${padding + row * lineHeight + 14}">${line.map(spanOf).join('')}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">${commands.map(({ line }) => escape(line)).join('; ')}</title>
<style>text{font:13px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d4d4d8;white-space:pre}</style>
<rect width="${width}" height="${height}" rx="8" fill="#18181b"/>
${texts.join('\n')}
</svg>
`;
}

function spanOf({ text, bold, dim, color }: Run, index: number, line: readonly Run[]): string {
  const shown = index === line.length - 1 ? text.trimEnd() : text;
  const fill = colors[color] ?? (dim ? '#a1a1aa' : '');
  const look = `${fill && ` fill="${fill}"`}${bold ? ' font-weight="bold"' : ''}`;
  return look === '' ? escape(shown) : `<tspan${look}>${escape(shown)}</tspan>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
