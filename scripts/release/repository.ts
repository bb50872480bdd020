/** What a manifest says of the place where the package is developed. */
export interface Origin {
  readonly repository: { readonly type: 'git'; readonly url: string };
  readonly homepage: string;
  readonly bugs: string;
}

/**
 * The repository that a workflow runs in. The registry's page resolves the README's links against it,
 * and accepts proof of origin only for it; so no address has to be kept in the tree.
 */
export function originOf({
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: name,
}: Readonly<Record<string, string | undefined>>): Origin | undefined {
  if (!server || !name) {
    return undefined;
  }
  const page = `${server}/${name}`;
  return {
    repository: { type: 'git', url: `git+${page}.git` },
    homepage: `${page}#readme`,
    bugs: `${page}/issues`,
  };
}
