import { readFileSync } from 'node:fs';
import type { Page } from './pages.js';

const readme = readFileSync('README.md', 'utf8');
const [email = ''] = /```ts\n[\s\S]*?\n```/.exec(readme) ?? [];
const [install = ''] = /^npm init [\s\S]*?(?=```)/m.exec(readme) ?? [];

/** The first page: what this is, how to install it, and one whole program. */
export const home: Page = {
  path: 'index.md',
  text: `---
layout: home
title: Postreel
titleTemplate: Email and video from TypeScript
hero:
  name: Postreel
  text: Email and video from TypeScript
  tagline: One typed client for a messaging service and one for a media service. No duplicate sends, jobs that outlive a crash, and calls that keep to the rate limit.
  actions:
    - { theme: brand, text: Start, link: /start }
    - { theme: alt, text: Recipes, link: /recipes/ }
    - { theme: alt, text: Reference, link: /reference/ }
---

## Install it

Until the first release, build the package with \`npm pack\` in a clone. Then, in a new folder:

\`\`\`sh
${install.trimEnd()}
\`\`\`

The last line starts fakes of both services, so you need no account.

## Send an email

${email}

Leave the fakes running, save this as \`app.js\`, and run \`node --env-file=.env app.js\` in a second terminal.
[Start](/start) continues with videos, a web page and a test.

## What it takes care of

- [**No duplicate sends.**](/errors) Neither service supports idempotency keys. Only what is safe to retry is
  retried, and every error says whether the call took effect.
- [**Jobs that outlive a crash.**](/journal) A journal records each job before it is submitted, and its id when
  the service answers. After a crash, a queue picks up where it stopped.
- [**Rate limits.**](/scale) Calls run right up to the service's limit and wait their turn beyond it, in one
  process or across many.
- [**Events that survive.**](/tracker) The tracker for web pages keeps events through page exits, reloads and
  offline periods.
- [**Mistakes caught early.**](/traps) What a service would silently drop or misread is a compile error, an error
  before the network, or a warning.
- [**Tests without a network.**](/testing) Fakes of both services come with the package, with a clock you control
  and faults on demand.
`,
};
