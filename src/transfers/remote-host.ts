import { isIP } from 'node:net';
import type { PrivateNetworks } from '../../config/parse.ts';
import { canonicalAddress, isPublicAddress } from '../../mail/dns/public-address.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { mayReach } from '../core/networks.ts';

/** Ports of IMAP at public hosts. */
const IMAP_PORTS = new Set([143, 993]);

/**
 * Looks up a host to pull mail from, and checks it as webhooks are checked (SSRF): all addresses must be public, or
 * allowed by the operator. The connection goes to the address that is returned. `isTemporary`: a later check may succeed.
 */
export async function checkRemoteHost(
  { host, port, tls }: { host: string; port: number; tls: 'implicit' | 'starttls' | 'none' },
  allowed: PrivateNetworks,
  resolver: Resolver,
): Promise<{ ip: string } | { problem: string; isTemporary?: boolean }> {
  const addresses = await addressesOf(host, resolver);
  if ('problem' in addresses) return addresses;
  const [ip] = addresses.all;
  // A name that existed when the import began can be missing for a while.
  if (ip === undefined) return { problem: `${host} does not exist in the DNS: check its name`, isTemporary: true };
  const inside = addresses.all.filter((one) => !isPublicAddress(one));
  if (inside.some((one) => !mayReach(allowed, canonicalAddress(one), port))) {
    const setting = 'MAILSTEAD_ALLOW_PRIVATE_NETWORKS';
    return { problem: `${host} resolves to a private address. The operator can allow it with ${setting}` };
  }
  if (inside.length === addresses.all.length) return { ip };
  if (!IMAP_PORTS.has(port)) return { problem: `Port ${port} is not a port of IMAP: use 993 or 143` };
  if (tls === 'none') return { problem: 'A password is sent over TLS only: use implicit TLS or STARTTLS' };
  return { ip };
}

async function addressesOf(
  host: string,
  resolver: Resolver,
): Promise<{ all: string[] } | { problem: string; isTemporary: boolean }> {
  if (isIP(host) !== 0) return { all: [host] };
  // RFC 6761 6.3: localhost is never looked up.
  if (host === 'localhost' || host.endsWith('.localhost')) return { all: ['127.0.0.1'] };
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)]);
  if (answers.some((answer) => answer.kind === 'trouble')) {
    return { problem: `${host} cannot be looked up now: try again later`, isTemporary: true };
  }
  return { all: answers.flatMap((answer) => (answer.kind === 'found' ? [...answer.records] : [])) };
}
