import { CLOUDFLARE } from './clients/cloudflare.ts';
import { DESEC } from './clients/desec.ts';
import { DIGITALOCEAN } from './clients/digitalocean.ts';
import { GANDI } from './clients/gandi.ts';
import { HETZNER } from './clients/hetzner.ts';
import { OVH } from './clients/ovh.ts';
import { PORKBUN } from './clients/porkbun.ts';
import { ROUTE53 } from './clients/route53.ts';
import { RFC2136 } from './rfc2136/client.ts';
import type { DnsProviderKind } from './zone-client.ts';

/** All DNS providers with a client, in the order in which they are listed. */
export const DNS_PROVIDERS: readonly DnsProviderKind[] = [
  CLOUDFLARE,
  HETZNER,
  DIGITALOCEAN,
  DESEC,
  GANDI,
  PORKBUN,
  ROUTE53,
  OVH,
  RFC2136,
];

export function findProvider(id: string): DnsProviderKind | undefined {
  return DNS_PROVIDERS.find((one) => one.id === id);
}
