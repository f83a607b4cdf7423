import { networkInterfaces } from 'node:os';
import { ReturnPaths } from '../../mail/delivery/return-path.ts';
import { type Relay, startRelay } from '../../mail/relay/relay.ts';
import type { SteadyClock } from '../../mail/jobs/steady-clock.ts';
import { type RelayClock, systemClock } from '../../mail/relay/clock.ts';
import type { RampBook } from '../../mail/relay/ramp-book.ts';
import { mayReach } from '../core/networks.ts';
import type { OutboundTls } from '../tls/outbound-tls.ts';
import type { Services } from './shared-parts.ts';

function relayClock(steadyClock: SteadyClock): RelayClock {
  return { ...systemClock, now: () => steadyClock.now(), aheadMs: () => steadyClock.aheadMs() };
}

/** Opens the relay. `listeners` are the open SMTP listeners: the relay must not deliver to its own box. */
export function openRelay(
  { settings, store, queue, smarthosts, keys, reportKey, resolver, log, metrics, clock, steadyClock }: Services,
  tls: OutboundTls,
  ramp: RampBook | undefined,
  listeners: readonly { service: string; port: number }[],
): Relay {
  const mxPorts = new Set(listeners.filter((one) => one.service === 'mx').map((one) => one.port));
  const own = new Set(Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((one) => one.address)));
  const returnPaths = new ReturnPaths(store, reportKey, clock);
  const { outboundAddresses: from } = settings;
  for (const ip of [from?.ipv4, from?.ipv6]) {
    if (ip === undefined || own.has(ip)) continue;
    log.warn({ ip }, 'this machine does not have the address that MAILSTEAD_OUTBOUND_ADDRESSES names; mail waits');
  }
  return startRelay({
    queue,
    resolver,
    keys: (domain, tenant) => keys.of(domain, tenant),
    returnPath: (item) => returnPaths.find(item),
    smarthost: (id) => smarthosts.find(id),
    hostname: settings.hostname,
    ehlo: settings.outboundHostname,
    from,
    tlsPolicy: tls.find,
    smarthostDane: tls.ofSmarthost,
    outboundPort: settings.outboundPort,
    allowPrivate: (ip, port) => mayReach(settings.allowPrivateNetworks, ip, port),
    isOurAddress: (ip, port) => own.has(ip) && mxPorts.has(port),
    ramp,
    ...(steadyClock !== undefined && { clock: relayClock(steadyClock) }),
    log,
    meter: metrics,
  });
}
