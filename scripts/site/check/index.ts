import { brokenLinks } from './links.js';
import { unfoundMethods } from './search.js';

/** What is wrong with a built site. */
export async function problemsOf(folder: string): Promise<string[]> {
  return [...brokenLinks(folder), ...(await unfoundMethods(folder))];
}
