import { isIP } from 'node:net';
import type { PrivateNetworks } from '../../config/parse.ts';
import { canonicalAddress, isPublicAddress } from '../../mail/dns/public-address.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { mayReach } from '../core/networks.ts';

const MAX_URL_CHARACTERS = 2_000;
/** Ports of services that may interpret an HTTP request as commands, beside all below 1024. */
const BLOCKED_PORTS = new Set([
  1433, 1521, 2049, 2375, 2376, 3306, 3389, 5432, 5984, 6000, 6379, 6443, 9200, 9300, 11211, 27017,
]);
const SETTING = 'MAILSTEAD_ALLOW_PRIVATE_NETWORKS';

/** `addresses`: the checked addresses; a delivery connects to one of them without another lookup. */
export type WebhookUrlCheck =
  { readonly url: string; readonly addresses: readonly string[] } | { readonly problem: string };

/**
 * Checks a webhook URL against SSRF. Looks up the host now; all its addresses must be public or allowed by the operator. A
 * delivery repeats the check and pins the address, because names change.
 */
export async function checkWebhookUrl(
  text: string,
  allowed: PrivateNetworks,
  resolver: Resolver,
): Promise<WebhookUrlCheck> {
  const url = parseWebhookUrl(text);
  if (!(url instanceof URL)) return url;
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const found = await addressesOf(host, resolver);
  if (allowed.endpoints.some((place) => place.host === host && place.port === port)) {
    return { url: url.href, addresses: 'problem' in found ? [] : found.addresses };
  }
  if ('problem' in found) {
    // A box without a network (local mode) can still use its own hosts.
    return allowed.all && url.protocol === 'https:' ? { url: url.href, addresses: [] } : found;
  }
  const inside = found.addresses.filter((ip) => !isPublicAddress(ip));
  if (inside.some((ip) => !mayReach(allowed, canonicalAddress(ip), port))) {
    return {
      problem: `${host} resolves to a private address. The operator can allow it with ${SETTING}`,
    };
  }
  const problem = inside.length === found.addresses.length ? undefined : publicUrlProblem(url, port);
  return problem ?? { url: url.href, addresses: found.addresses };
}

/** Rules for public hosts: https, and no port of another service. */
function publicUrlProblem(url: URL, port: number): { problem: string } | undefined {
  if (url.protocol !== 'https:') {
    return { problem: `The URL must be https. http is only for hosts that the operator allows with ${SETTING}` };
  }
  if ((port < 1024 && port !== 443) || BLOCKED_PORTS.has(port)) {
    return { problem: `Port ${port} is not allowed for webhooks. Use 443 or a port above 1023` };
  }
  return undefined;
}

function parseWebhookUrl(text: string): URL | { problem: string } {
  // Rejects characters on which URL parsers disagree, before parsing.
  if (text.length > MAX_URL_CHARACTERS || /[\s\x00-\x20\x7f-\uffff\\]/.test(text)) {
    return { problem: 'The URL has invalid characters or is too long' };
  }
  if (!URL.canParse(text)) return { problem: 'Invalid URL. Example: https://app.example.com/mail' };
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
  // RFC 6761 6.3: localhost is never looked up.
  if (host === 'localhost' || host.endsWith('.localhost')) return { addresses: ['127.0.0.1', '::1'] };
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)]);
  const addresses = answers.flatMap((answer) => (answer.kind === 'found' ? [...answer.records] : []));
  if (answers.some((answer) => answer.kind === 'trouble')) {
    return { problem: `${host} cannot be looked up now. Try again later` };
  }
  return addresses.length === 0 ? { problem: `${host} does not exist in the DNS` } : { addresses };
}
