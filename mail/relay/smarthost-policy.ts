import type { Host } from './destination.ts';
import type { Smarthost } from './smarthosts.ts';
import { judgeByAuthorities } from './tls-policy/certificate.ts';
import type { Barred, FindHostPolicy, HostPolicy, TlsWish } from './tls-policy/policy.ts';

/**
 * What a smarthost has to show before mail, or a login, is handed to it: where its name has TLSA records, what they say;
 * else what its route says. Whoever takes any certificate takes any.
 */
export async function smarthostPolicy(
  smarthost: Smarthost,
  host: Host,
  wish: TlsWish,
  dane: FindHostPolicy | undefined,
): Promise<HostPolicy | Barred> {
  const routed = ofRoute(smarthost, host, wish);
  const proved = smarthost.certificate === 'any' ? undefined : await dane?.(host);
  if (proved === undefined || 'kind' in proved) return proved ?? routed;
  // RFC 7672 2.2: records that nobody can use still say that there is TLS.
  return proved.judge === undefined ? { ...routed, required: true } : proved;
}

/** A login goes only under TLS, and where that is set only to who proves the name; REQUIRETLS always asks for both. */
function ofRoute({ host: name, login, certificate }: Smarthost, host: Host, wish: TlsWish): HostPolicy {
  const judged = wish === 'required' || (login !== undefined && certificate === 'verified');
  return {
    by: 'smarthost',
    rule: `the route by the smarthost ${name}`,
    required: login !== undefined || wish === 'required',
    servername: host.name,
    ...(judged && { judge: (socket) => judgeByAuthorities(socket, host.name) }),
    report: { domain: name, type: 'no-policy-found', strings: [] },
  };
}
