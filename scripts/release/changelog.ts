import type { EntryPointNames } from '../public-names.js';

/** What stands under Unreleased in a changelog. */
export function unreleased(changelog: string): string {
  const [, section = ''] =
    /^## \[Unreleased\]\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog) ?? [];
  return section.trim();
}

/** The names that one of two lists of public names has and the other has not. */
export function changedNames(before: string, after: string): string[] {
  const [old, fresh] = [namesIn(before), namesIn(after)] as const;
  const all = [...new Set([...old, ...fresh])];
  return all.filter((name) => !old.has(name) || !fresh.has(name)).sort();
}

/** The names that a text does not mention. */
export function missingNames(names: readonly string[], text: string): string[] {
  return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
}

function namesIn(list: string): Set<string> {
  const entryPoints = Object.values(JSON.parse(list) as Record<string, EntryPointNames>); // as: our own file
  return new Set(entryPoints.flatMap(({ values, types }) => [...values, ...types]));
}
