import type { MarkdownOptions } from 'vitepress';

export const markdown: MarkdownOptions = {
  anchor: { slugify },
  theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  // Braces are the services' own template syntax here, and nothing for Vue.
  config(md) {
    const { text, code_inline: code } = md.renderer.rules;
    md.renderer.rules.text = (...args) => plainBraces(text?.(...args) ?? '');
    md.renderer.rules.code_inline = (...args) => plainBraces(code?.(...args) ?? '');
  },
};

/** The anchors that GitHub gives, so that links between the documents hold in both places. */
export function slugify(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function plainBraces(html: string): string {
  return html.replaceAll('{{', '&#123;&#123;');
}
