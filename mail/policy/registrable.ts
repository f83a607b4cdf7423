import { getDomain } from 'tldts';

/** Shared hosting domains that the public suffix list lacks: each subdomain has its own owner. */
const SHARED_HOSTING: ReadonlySet<string> = new Set(
  'amazonaws.com backblazeb2.com glitch.me godaddysites.com sharepoint.com tumblr.com weebly.com wordpress.com'.split(
    ' ',
  ),
);
const OPTIONS = { allowPrivateDomains: true, extractHostname: false, validateHostname: false } as const;

/**
 * Returns the registrable domain by the public suffix list, its private part included: `shop.co.uk` for `mail.shop.co.uk`,
 * `evil.github.io` for itself. A public suffix or an IP address is returned as it is.
 */
export function registrableDomain(host: string): string {
  const name = host.toLowerCase();
  const domain = getDomain(name, OPTIONS) ?? name;
  return SHARED_HOSTING.has(domain) && name !== domain ? withOneMoreLabel(name, domain) : domain;
}

function withOneMoreLabel(name: string, domain: string): string {
  return name.slice(name.lastIndexOf('.', name.length - domain.length - 2) + 1);
}

/** Returns the first label of the registrable domain: `shop` for `mail.shop.co.uk`. */
export function mainLabel(host: string): string {
  return registrableDomain(host).split('.')[0] ?? '';
}

/** Compares the owners of two hosts by the public suffix list. */
export function hasSameOwner(one: string, other: string): boolean {
  return registrableDomain(one) === registrableDomain(other);
}

/** Returns the domain of an address in lower case; '' for none. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}
