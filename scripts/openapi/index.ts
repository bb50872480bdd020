import { readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from './document.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

// Compact: it is for programs.
writeFileSync('dist/openapi.json', `${JSON.stringify(openApiDocument(version))}\n`);
