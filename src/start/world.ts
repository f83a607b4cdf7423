import type { Settings } from '../../config/settings.ts';
import { isLoopback } from '../../mail/guard/network.ts';
import type { Revoke } from '../agents/agent-logins.ts';
import { UnderWay } from '../agents/under-way.ts';
import { HttpLimits } from '../http/rate.ts';
import type { World } from '../operations/world.ts';
import { Runner } from '../services/runner.ts';
import { Waits } from '../waiting/waits.ts';
import type { Inside } from './inside.ts';
import type { Listeners } from './ports.ts';

/** {base_url}, without a slash at the end. */
export function baseUrlOf({ baseUrl }: Pick<Settings, 'baseUrl'>, { http, https }: Listeners): string {
  return baseUrl ?? `http://127.0.0.1:${http ?? https ?? 0}`;
}

/** What operations may use. `listeners` is filled in when all doors are open. */
export function worldOf(inside: Inside, listeners: Listeners, refusedLogins: World['refusedLogins']): World {
  const { settings, clock, logins, queue } = inside;
  const baseUrl = (): string => baseUrlOf(settings, listeners);
  const ports = (): Listeners => listeners;
  return {
    ...inside,
    limits: new HttpLimits((ip) => inside.exempt(ip) || (inside.local && isLoopback(ip)), inside.guard),
    certificate: () => ({ pem: inside.tls.pair.cert, selfSigned: inside.tls.selfSigned }),
    startedAt: clock(),
    policy: inside.agents.policy,
    baseUrl,
    ports,
    underWay: new UnderWay(),
    waits: new Waits(inside),
    runner: new Runner({ ...inside, baseUrl, ports }),
    revoked: revoking(logins),
    catalogue: async () => (await import('../operations/catalogue.ts')).CATALOGUE,
    queueChanged: () => queue.changed(),
    refusedLogins,
  };
}

/** Ends sessions of passwords that hold no more; without their rows all of an account. */
export function revoking(logins: Inside['logins']): Revoke {
  return (account, gone) => {
    if (gone === undefined) logins.revoked({ account });
    for (const credential of gone ?? []) logins.revoked({ account, credential });
  };
}
