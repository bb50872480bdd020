import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Links and pictures of the built pages that lead nowhere, anchors included. */
export function brokenLinks(folder: string): string[] {
  const pages = new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.html'))
      .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
  const anchors = new Map([...pages].map(([path, html]) => [path, anchorsOf(html)]));
  return [...pages].flatMap(([path, html]) =>
    linksOf(html)
      .filter((link) => !leads(link, path))
      .map((link) => `${path}: ${link} leads nowhere`),
  );

  function leads(link: string, from: string): boolean {
    const [address = '', anchor] = link.split('#');
    const target = address === '' ? from : fileOf(address, from);
    if (!existsSync(join(folder, target))) {
      return false;
    }
    return !anchor || !pages.has(target) || anchors.get(target)!.has(decodeURIComponent(anchor)); // !: each page has its set
  }
}

function linksOf(html: string): string[] {
  const found = [...html.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link);
  return [...new Set(found)].filter(
    (link) => !/^(https?:|mailto:|data:)/.test(link) && link !== '',
  );
}

function anchorsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/\bid="([^"]+)"/g)].map(([, id = '']) => id));
}

function fileOf(address: string, from: string): string {
  const path = decodeURIComponent(address);
  const file = path.startsWith('/') ? path.slice(1) : normalize(join(dirname(from), path));
  if (file === '' || file.endsWith('/')) {
    return `${file}index.html`;
  }
  return /\.\w+$/.test(file) ? file : `${file}.html`;
}
