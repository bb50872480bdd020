/** A fault and what caused it, the outermost first. */
export function causesOf(fault: unknown): object[] {
  const causes: object[] = [];
  let current = fault;
  // Wrappers nest three deep at most; the bound ends a chain that refers to itself.
  while (typeof current === 'object' && current !== null && causes.length < 8) {
    causes.push(current);
    current = read(current, 'cause');
  }
  return causes;
}

/** A property of a foreign object, whose getter may throw. */
export function read(owner: object, name: string): unknown {
  try {
    return (owner as Record<string, unknown>)[name]; // any object
  } catch {
    return undefined;
  }
}
