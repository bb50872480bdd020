/** Is this a system's error with this code, e.g. `ENOENT`? */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
