/** The version of this package, as services see it; `package.json` has the same. */
export const version = '0.1.0';
