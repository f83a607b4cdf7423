import { RFC2136 } from './rfc2136/client.ts';
import type { DnsProviderKind } from './zone-client.ts';

/** All DNS providers with a client, in the order in which they are listed. */
export const DNS_PROVIDERS: readonly DnsProviderKind[] = [RFC2136];

export function findProvider(id: string): DnsProviderKind | undefined {
  return DNS_PROVIDERS.find((one) => one.id === id);
}
