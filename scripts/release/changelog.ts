/** What stands under Unreleased in a changelog. */
export function unreleased(changelog: string): string {
  const [, section = ''] =
    /^## \[Unreleased\]\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog) ?? [];
  return section.trim();
}

/** The public names that two versions of docs/api.md do not have in common, or declare otherwise. */
export function changedNames(before: string, after: string): string[] {
  const [old, fresh] = [declarations(before), declarations(after)] as const;
  const names = new Set([...old.keys(), ...fresh.keys()]);
  return [...names].filter((name) => old.get(name) !== fresh.get(name)).sort();
}

/** The names that a text does not mention. */
export function missingNames(names: readonly string[], text: string): string[] {
  return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
}

const start =
  /^(?:declare class|interface|type|declare function|function|const|declare const) (\w+)/;

/** Every declaration of the page by its name. */
function declarations(page: string): Map<string, string> {
  const found = new Map<string, string>();
  let name: string | undefined;
  for (const line of page.split('\n')) {
    const [, next] = start.exec(line) ?? [];
    name = next ?? (/^(```|#)/.test(line) ? undefined : name);
    if (name !== undefined) {
      found.set(name, `${found.get(name) ?? ''}${line}\n`);
    }
  }
  return found;
}
