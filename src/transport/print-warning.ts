const said = new Set<string>();
const maxRemembered = 1000;

/** Prints a warning without a listener, once per message: on Node as a process warning. */
export function printWarning(message: string): void {
  if (said.has(message) || said.size >= maxRemembered) {
    return;
  }
  said.add(message);
  const { process } = globalThis as {
    process?: { emitWarning?: (message: string, type: string) => void };
  }; // as: not every runtime has it
  if (typeof process?.emitWarning === 'function') {
    process.emitWarning(message, 'PostreelWarning');
  } else {
    console.warn(`postreel: ${message}`);
  }
}
