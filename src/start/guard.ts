import { Guard } from '../../mail/guard/guard.ts';
import { isLoopback } from '../../mail/guard/network.ts';
import { addBan, listBans, MOST_BANS } from '../../mail/store/ban.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { inNetworks } from '../networks.ts';
import type { Surroundings } from './surroundings.ts';

/** One for all doors, with the bans of before. Our own proxies stand for everybody behind them. */
export async function openGuard(
  { settings, clock, log, metrics }: Surroundings,
  store: MailStore,
  exempt: (ip: string) => boolean,
): Promise<Guard> {
  const guard = new Guard({
    clock,
    free: (ip) => exempt(ip) || inNetworks(ip, settings.trustProxy) || (!settings.live && isLoopback(ip)),
    keep: (offender) => store.write(addBan, offender),
    log,
    meter: metrics,
  });
  guard.remember(await store.scan(listBans, { after: 0, limit: MOST_BANS, now: clock() }));
  return guard;
}
