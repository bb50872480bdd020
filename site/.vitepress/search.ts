/** Guides and recipes come before examples, and examples before the reference, which repeats every word. */
export const searchOptions = {
  // VitePress writes this function into the page: it must not use anything outside of it.
  boostDocument: (id: string): number =>
    id.startsWith('/reference/') ? 0.1 : id.startsWith('/examples/') ? 0.5 : 1,
};
