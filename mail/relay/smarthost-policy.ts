import type { Host } from './destination.ts';
import { verifyByAuthorities } from './tls-policy/certificate.ts';
import type { BarredHost, FindHostPolicy, HostPolicy, TlsRequirement } from './tls-policy/policy.ts';
import type { SmarthostLogin } from './authenticate.ts';

/** A smarthost: relays mail for any domain. */
export interface Smarthost {
  /** Route id; {@link BOX_SMARTHOST} for the operator's own. */
  id: number;
  host: string;
  port: number;
  tls: 'implicit' | 'starttls';
  /** `verified`: the login is sent only with a valid certificate for the name. */
  certificate: 'verified' | 'any';
  login: SmarthostLogin | undefined;
}

/**
 * Determines the TLS policy of a smarthost, for mail and login: its TLSA records if it has any, else the settings of its
 * route. A route that accepts any certificate ignores TLSA records.
 */
export async function findSmarthostPolicy(
  smarthost: Smarthost,
  host: Host,
  wish: TlsRequirement,
  dane: FindHostPolicy | undefined,
): Promise<HostPolicy | BarredHost> {
  const routed = routePolicy(smarthost, host, wish);
  const proved = smarthost.certificate === 'any' ? undefined : await dane?.(host);
  if (proved === undefined || 'kind' in proved) return proved ?? routed;
  // Unusable TLSA records still require TLS. RFC 7672 2.2.
  return proved.verify === undefined ? { ...routed, required: true } : proved;
}

/** Policy of the route: a login needs TLS, and a verified certificate if set; REQUIRETLS needs both. */
function routePolicy({ host: name, login, certificate }: Smarthost, host: Host, wish: TlsRequirement): HostPolicy {
  const needsVerification = wish === 'required' || (login !== undefined && certificate === 'verified');
  return {
    by: 'smarthost',
    rule: `the route over the smarthost ${name}`,
    required: login !== undefined || wish === 'required',
    servername: host.name,
    ...(needsVerification && { verify: (socket) => verifyByAuthorities(socket, host.name) }),
    report: { domain: name, type: 'no-policy-found', strings: [] },
  };
}
