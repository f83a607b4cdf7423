import type { SampleLink } from '../sample.ts';

/** A link as browsers read it, so that no spelling hides where it leads; null for what leads to no host. */
export function webAddress(url: string): URL | null {
  const parsed = URL.parse(url.startsWith('//') ? `http:${url}` : url);
  return parsed !== null && /^(?:https?|ftp):$/.test(parsed.protocol) ? parsed : null;
}

/** The host that a link leads to as A-labels, or '' when it leads to none. */
export function hostOf(url: string): string {
  return webAddress(url)?.hostname.replace(/\.$/, '') ?? '';
}

/** The hosts of links, each once, at most `most`. */
export function hostsOf(links: readonly SampleLink[], most: number): string[] {
  const hosts = new Set<string>();
  for (const { url } of links) {
    const host = hostOf(url);
    if (host !== '') hosts.add(host);
    if (hosts.size >= most) break;
  }
  return [...hosts];
}

/** An address in place of a name. */
export function isLiteral(host: string): boolean {
  return host.startsWith('[') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
}
