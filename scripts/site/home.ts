import { readFileSync } from 'node:fs';
import type { Page } from './pages.js';

const [email = ''] = /```ts\n[\s\S]*?\n```/.exec(readFileSync('README.md', 'utf8')) ?? [];

/** The first page: what this is, and one whole program. */
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
features:
  - title: No duplicate sends
    details: Neither service supports idempotency keys. Only what is safe to retry is retried, and every error says whether the call took effect.
    link: /errors
  - title: Jobs that outlive a crash
    details: A journal records each job before it is submitted, and its id when the service answers. After a crash, a queue picks up where it stopped.
    link: /node
  - title: Rate limits
    details: Calls run right up to the service's limit and wait their turn beyond it, in one process or across many.
    link: /scale
  - title: Events that survive
    details: The tracker for web pages keeps events through page exits, offline periods and killed browsers.
    link: /tracker
  - title: Mistakes caught early
    details: What a service would silently drop or misread is a compile error, an error before the network, or a warning.
    link: /clients
  - title: Tests without a network
    details: Fakes of both services come with the package, with a clock you control and faults on demand.
    link: /testing
---

## A whole program

${email}
`,
};
