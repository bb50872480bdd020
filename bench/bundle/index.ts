import { join } from 'node:path';
import { bundle } from '../../scripts/sizes.js';
import { report } from '../report.js';

const peers = join(import.meta.dirname, '..');
const codes: Readonly<Record<string, string>> = {
  ky: `export { default } from 'ky';`,
  resend: `export { Resend } from 'resend';`,
  stripe: `export { default } from 'stripe';`,
  openai: `export { default } from 'openai';`,
  '@anthropic-ai/sdk': `export { default } from '@anthropic-ai/sdk';`,
};
const entryPoints: Readonly<Record<string, string>> = {
  'MessagingClient of postreel/messaging': `export { MessagingClient } from 'postreel/messaging';`,
  'MediaClient of postreel/media': `export { MediaClient } from 'postreel/media';`,
};

const rows: Record<string, Record<string, string>> = {};
for (const [name, code] of [...Object.entries(codes), ...Object.entries(entryPoints)]) {
  const { eager, lazy } = await bundle(code, ['node:*'], name in codes ? peers : undefined);
  rows[name] = { 'at once, KB': kilobytes(eager), 'later, KB': kilobytes(lazy) };
}
await report({
  title: 'Bytes in a browser',
  command: 'npm run bench:bundle',
  method: 'Bundled, split and minified by esbuild, then `gzip -9`.',
  tables: { 'What a page loads': rows },
});

function kilobytes(bytes: number): string {
  return (bytes / 1_000).toFixed(1);
}
