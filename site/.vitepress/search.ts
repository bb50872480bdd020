/** Guides and recipes come before examples, and examples before the reference, which repeats every word. */
export const searchOptions = {
  // VitePress writes these functions into the page: they must not use anything outside of them.
  boostDocument: (id: string): number =>
    id.startsWith('/reference/') ? 0.1 : id.startsWith('/examples/') ? 0.5 : 1,
  // With a letter changed, a short word is another word: `cost` would find `lost`.
  fuzzy: (term: string): number | boolean => (term.length > 5 ? 0.2 : false),
};
