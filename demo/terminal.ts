import { createInterface } from 'node:readline/promises';

const isTerminal = process.stdout.isTTY;
let step = 0;
let lastNews = '';

/** Announces a step. */
export function chapter(title: string): void {
  console.log(`\n${String(++step).padStart(2)}  ${bold(title)}`);
}

/** Says what happened. */
export function say(text: string): void {
  console.log(`    ${text}`);
}

/** Draws a bar over the last one; without a terminal a line for each quarter. */
export function bar(label: string, share: number, note = ''): void {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * 24);
  const line = `    ${label.padEnd(10)} [${'█'.repeat(filled)}${'·'.repeat(24 - filled)}] ${note}`;
  if (isTerminal) {
    process.stdout.write(`\r\u001b[K${line}${share >= 1 ? '\n' : ''}`);
  } else if (isNews(`${label} ${Math.floor(filled / 6)} ${note}`)) {
    console.log(line);
  }
}

/** Asks before something that mails or costs; only real services make it ask. */
export async function allowed(what: string, isReal: boolean): Promise<boolean> {
  if (!isReal) {
    return true;
  }
  if (!process.stdin.isTTY) {
    say(`skipped without a terminal to ask on: ${what}`);
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`    ${what}. Go on? [y/N] `);
  terminal.close();
  return answer.trim().toLowerCase() === 'y';
}

function isNews(text: string): boolean {
  const isNew = text !== lastNews;
  lastNews = text;
  return isNew;
}

function bold(text: string): string {
  return isTerminal ? `\u001b[1m${text}\u001b[0m` : text;
}
