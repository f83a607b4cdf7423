import { isIP } from 'node:net';
import type { PrivateNetworks } from '../../config/parse.ts';
import { canonicalAddress, isPublicAddress } from '../../mail/dns/public-address.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { mayReach } from '../networks.ts';

const LONGEST = 2_000;
/** Ports of services that understand more of an HTTP request than they should, beside everything below 1024. */
const NEVER = new Set([
  1433, 1521, 2049, 2375, 2376, 3306, 3389, 5432, 5984, 6000, 6379, 6443, 9200, 9300, 11211, 27017,
]);
const SETTING = 'MAILSTEAD_ALLOW_PRIVATE_NETWORKS';

/** `addresses` are those that were judged; a delivery goes to one of these and looks nothing up again. */
export type WebhookUrl = { readonly url: string; readonly addresses: readonly string[] } | { readonly problem: string };

/**
 * Judges a URL that this box will call on somebody's behalf (SSRF). The host is looked up now, and all its addresses
 * must be public or allowed by the operator; a delivery looks again and pins what it found, because names change.
 */
export async function judgeWebhookUrl(text: string, allowed: PrivateNetworks, resolver: Resolver): Promise<WebhookUrl> {
  const url = parsed(text);
  if (!(url instanceof URL)) return url;
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const found = await addressesOf(host, resolver);
  if (allowed.places.some((place) => place.host === host && place.port === port)) {
    return { url: url.href, addresses: 'problem' in found ? [] : found.addresses };
  }
  if ('problem' in found) {
    // A box without a network (local mode) may still be told where its own things are.
    return allowed.all && url.protocol === 'https:' ? { url: url.href, addresses: [] } : found;
  }
  const inside = found.addresses.filter((ip) => !isPublicAddress(ip));
  if (inside.some((ip) => !mayReach(allowed, canonicalAddress(ip), port))) {
    return {
      problem: `${host} leads to an address that is not public; the operator allows such places with ${SETTING}`,
    };
  }
  const problem = inside.length === found.addresses.length ? undefined : outside(url, port);
  return problem ?? { url: url.href, addresses: found.addresses };
}

/** What holds for places in the world. */
function outside(url: URL, port: number): { problem: string } | undefined {
  if (url.protocol !== 'https:') {
    return { problem: `The URL must be https; http is for places that the operator allows with ${SETTING}` };
  }
  if ((port < 1024 && port !== 443) || NEVER.has(port)) {
    return { problem: `Port ${port} is not one for webhooks: use 443 or another one above 1023` };
  }
  return undefined;
}

function parsed(text: string): URL | { problem: string } {
  // What parsers read differently is refused before one of them reads it.
  if (text.length > LONGEST || /[\s\x00-\x20\x7f-\uffff\\]/.test(text)) {
    return { problem: 'The URL has characters that a URL cannot have, or is too long' };
  }
  if (!URL.canParse(text)) return { problem: 'This is not a URL such as https://app.example.com/mail' };
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) return { problem: 'The URL must begin with https://' };
  if (url.username !== '' || url.password !== '') return { problem: 'The URL cannot carry a user name or password' };
  if (url.hash !== '') return { problem: 'The URL cannot have a fragment (#...)' };
  return url;
}

async function addressesOf(
  host: string,
  resolver: Resolver,
): Promise<{ addresses: readonly string[] } | { problem: string }> {
  if (isIP(host) !== 0) return { addresses: [host] };
  // RFC 6761 6.3: never asked of the DNS.
  if (host === 'localhost' || host.endsWith('.localhost')) return { addresses: ['127.0.0.1', '::1'] };
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)]);
  const addresses = answers.flatMap((answer) => (answer.kind === 'found' ? [...answer.records] : []));
  if (answers.some((answer) => answer.kind === 'trouble')) {
    return { problem: `${host} cannot be looked up now; try again later` };
  }
  return addresses.length === 0 ? { problem: `${host} does not exist in the DNS` } : { addresses };
}
