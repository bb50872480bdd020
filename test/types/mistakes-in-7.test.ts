import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const video = "workflowType: 'idea', prompt: 'Cats'";
const mistakes: readonly [string, RegExp][] = [
  [`{ ${video} }`, /'voiceId' is missing/],
  [`{ ${video}, voiceId: 'v', aspectRatio: '4:3' }`, /^Type '"4:3"' is not assignable/],
  [`{ ${video}, voiceId: 'v', aspctRatio: '16:9' }`, /^Object literal .* 'aspctRatio' does not/],
  [`{ payload: [{ ${video} }] }`, /'voiceId' is missing/],
  [
    `{ payload: [{ ${video}, voiceId: 'v', aspectRatio: '4:3' }] }`,
    /^Type '"4:3"' is not assignable/,
  ],
  [`{ payload: [], foldrId: 'f' }`, /^Object literal .* 'foldrId' does not/],
];

let folder = '';
let messages: string[] = [];

beforeAll(async () => {
  mkdirSync('test/.tmp', { recursive: true });
  folder = mkdtempSync(join('test/.tmp', 'mistakes-'));
  const calls = mistakes.map(([given]) => `generate.video(${given});`);
  const lines = [
    "import { MediaClient } from 'postreel'; const { generate } = new MediaClient();",
    ...calls,
  ];
  writeFileSync(join(folder, 'of-a-user.ts'), lines.join('\n'));
  const compilerOptions = {
    noEmit: true,
    rootDir: resolve('.'),
    types: ['node'],
    paths: { postreel: [resolve('src/index.ts')] },
  };
  const config = { extends: '../../../tsconfig.base.json', compilerOptions, include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const output = await compile(folder);
  // One diagnostic for each line: its first line, and those that explain it.
  messages = calls.map((_, index) => {
    const [, text = ''] = output.split(new RegExp(`of-a-user\\.ts\\(${index + 2},\\d+\\): error `));
    return text.split(/^\S+\.ts\(/m)[0]!.replace(/^TS\d+: /, '');
  });
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each(mistakes.map(([given, message], index) => [given, message, index] as const))(
  'TypeScript 7 names the mistake of %s',
  (_, message, index) => {
    expect(messages[index]).not.toMatch(/^No overload/);
    const lines = messages[index]!.split('\n').map((line) => line.trim());
    expect(lines.filter((line) => message.test(line))).toHaveLength(1);
  },
);

/** What the compiler prints. */
function compile(project: string): Promise<string> {
  const compiler = 'node_modules/typescript-7/bin/tsc';
  return new Promise((done) => {
    execFile(process.execPath, [compiler, '-p', project, '--pretty', 'false'], (_, output) =>
      done(output),
    );
  });
}
