import type { Settings } from '../../config/settings.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { outboundOf } from './records.ts';
import { checkSpfRecord, checkSpfSyntax, type SpfCheck } from './spf.ts';

/** This server as a sender: an SPF record has to authorize it. */
export interface SendingServer {
  hostname: string;
  /** Addresses of `MAILSTEAD_OUTBOUND_ADDRESSES`; undefined: those of the host name. */
  outbound?: readonly string[] | undefined;
  /** All mail leaves through a smarthost, whose addresses are unknown. */
  relayed?: boolean;
}

/** Reads from the settings how mail leaves. */
export function sendingServer({
  hostname,
  outboundAddresses,
  smarthost,
}: Pick<Settings, 'hostname' | 'outboundAddresses' | 'smarthost'>): SendingServer {
  return { hostname, outbound: outboundOf(outboundAddresses), relayed: smarthost?.use === 'always' };
}

/** Addresses of one family that count, where they are those of the host name. */
const MAX_ADDRESSES = 2;

/** Addresses from which mail leaves. `missing`: why there are none. */
export async function sendingAddresses(
  { hostname, outbound }: SendingServer,
  resolver: Resolver,
): Promise<{ addresses: readonly string[]; missing?: SpfCheck }> {
  if (outbound !== undefined) return { addresses: outbound };
  const found = await Promise.all([resolver.a(hostname), resolver.aaaa(hostname)]);
  // Sorted: a name server that rotates its answers must not change the result.
  const addresses = found.flatMap((one) =>
    one.kind === 'found' ? one.records.toSorted().slice(0, MAX_ADDRESSES) : [],
  );
  if (addresses.length > 0) return { addresses };
  const late = found.find((one) => one.kind === 'trouble');
  if (late?.kind === 'trouble') return { addresses, missing: { status: 'pending', detail: late.why } };
  return { addresses, missing: { status: 'fail', detail: `${hostname} has no address in the DNS` } };
}

/**
 * Evaluates if the SPF record of a domain authorizes this server, as receivers do. Verification, the list of records, the
 * doctor and the plan of a DNS provider all decide by this. Never rejects. RFC 7208.
 */
export async function checkSendingServer(resolver: Resolver, domain: string, server: SendingServer): Promise<SpfCheck> {
  if (server.relayed === true) return checkSpfSyntax(resolver, domain);
  const { addresses, missing } = await sendingAddresses(server, resolver);
  return missing ?? checkSpfRecord(resolver, domain, addresses);
}
