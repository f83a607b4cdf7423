import type { SampleLink } from '../sample.ts';

/** Parses a link as browsers do, so that no spelling hides its host; null for a link without a host. */
export function parseWebUrl(url: string): URL | null {
  const parsed = URL.parse(url.startsWith('//') ? `http:${url}` : url);
  return parsed !== null && /^(?:https?|ftp):$/.test(parsed.protocol) ? parsed : null;
}

/** Returns the host of a link in A-labels, '' for none. */
export function linkHost(url: string): string {
  return parseWebUrl(url)?.hostname.replace(/\.$/, '') ?? '';
}

/** Lists the distinct hosts of links, at max `max`. */
export function linkHosts(links: readonly SampleLink[], max: number): string[] {
  const hosts = new Set<string>();
  for (const { url } of links) {
    const host = linkHost(url);
    if (host !== '') hosts.add(host);
    if (hosts.size >= max) break;
  }
  return [...hosts];
}

/** True for an IP address in place of a name. */
export function isAddressLiteral(host: string): boolean {
  return host.startsWith('[') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
}
