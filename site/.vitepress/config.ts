import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { markdown } from './markdown.js';
import { searchOptions } from './search.js';

// Written by `npm run site` before VitePress starts.
const sidebar = JSON.parse(readFileSync('site/pages/sidebar.json', 'utf8')) as never; // as: our own

export default defineConfig({
  title: 'Postreel',
  description: 'Send email and make videos from TypeScript: guides, recipes and reference.',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: false,
  metaChunk: true,
  lastUpdated: false,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown,
  vite: { build: { chunkSizeWarningLimit: 3000 } }, // the search index, loaded with the first search
  themeConfig: {
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Guides', link: '/messaging' },
      { text: 'Recipes', link: '/recipes/' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Why', link: '/why' },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: 'local', options: { miniSearch: { searchOptions } } },
    docFooter: { prev: false, next: false },
  },
});
