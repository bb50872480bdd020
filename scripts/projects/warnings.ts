// A bundler's warning about our package: the word "warning", then the package's name in the same line or in the
// next ones, which explain it.
const ofBundler = /warn(ing)?s?\b(.*\n){0,6}?.*(node_modules\/|["'`])postreel\b/i;
// Warnings of Node, which do not name the package that causes them.
const ofNode = /\b(Postreel|Experimental)Warning\b/;

/** Is there a warning that our package causes? What a framework prints about itself does not count. */
export function hasOurWarning(output: string): boolean {
  return ofBundler.test(output) || ofNode.test(output);
}
