import type { AnswerDesk } from '../../mail/delivery/answers.ts';
import { startImap } from '../../mail/imap/server.ts';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { Greylist } from '../../mail/receiver/greylist.ts';
import { startReceiver } from '../../mail/receiver/server.ts';
import { StoreIntake } from '../../mail/receiver/store-intake.ts';
import { queueDepth } from '../../mail/store/queue-rows.ts';
import { type DnsServer, startDns } from '../dns/server.ts';
import { boxZones } from '../domains/zones.ts';
import { httpDoors } from '../http/doors.ts';
import { startHttp } from '../http/server.ts';
import { dnsHosts, httpListeners, imapListeners, smtpListeners } from '../listeners.ts';
import type { Judging } from '../../mail/receiver/intake-desk.ts';
import { inNetworks } from '../networks.ts';
import type { World } from '../operations/world.ts';
import { senderOf } from '../sending/allowance.ts';
import { Tenants } from '../sending/tenants.ts';
import type { Inside } from './inside.ts';

/** SMTP: mail that arrives, and mail that is handed in. */
export function openReceiver(
  {
    settings,
    store,
    forwardKey,
    reportKey,
    hold,
    agents,
    queue,
    logins,
    guard,
    tls,
    exempt,
    local,
    log,
    metrics,
    clock,
  }: Inside,
  judging: Judging | null,
  answers: AnswerDesk,
) {
  const tenants = new Tenants(store);
  const intake = new StoreIntake({
    store,
    hostname: settings.hostname,
    hold,
    forwardKey,
    reportKey,
    ...(settings.greylist && { greylist: new Greylist(store, clock) }),
    judging,
    answers,
    log,
    meter: metrics,
    senderOf: (account) => senderOf({ store, tenants }, settings, account),
    policy: agents.policy,
    queued: () => queue.changed(),
    clock,
  });
  return startReceiver({
    hostname: settings.hostname,
    listeners: smtpListeners(settings),
    intake,
    logins,
    guard,
    secureContext: () => tls.secureContext(),
    exempt,
    local,
    maxMessageBytes: settings.maxMessageBytes,
    log,
    meter: metrics,
  });
}

/** IMAP, over the store. */
export function openImap({
  settings,
  store,
  logins,
  guard,
  agents,
  tls,
  exempt,
  local,
  log,
  metrics,
  clock,
  imapLimits,
}: Inside) {
  return startImap({
    hostname: settings.hostname,
    listeners: imapListeners(settings),
    logins,
    guard,
    open: (login) =>
      new StoreBackend(store, login.account, clock, {
        hand: { credential: login.credential },
        shown: (emails) => agents.shownToLogin(login, emails),
        handed: (emails) => agents.handedToLogin(login, emails),
        opened: (emails) => agents.openedByLogin(login, emails, 'imap'),
      }),
    limits: { messageBytes: settings.maxMessageBytes, ...imapLimits },
    secureContext: () => tls.secureContext(),
    exempt,
    local,
    log,
    meter: metrics,
  });
}

/** Everything that speaks HTTP, with the figures of the queue for who scrapes them. */
export function openHttp({ settings, store, guard, tls, failing, metrics, log, clock }: Inside, world: World) {
  metrics.onScrape(async () => {
    const depth = await store.scan(queueDepth, undefined);
    metrics.gauge('queue_rows', depth.due, { state: 'due' });
    metrics.gauge('queue_rows', depth.held, { state: 'held' });
    metrics.gauge('queue_oldest_seconds', depth.oldest === undefined ? 0 : (clock() - depth.oldest) / 1000);
  });
  return startHttp({
    listeners: httpListeners(settings),
    secureContext: () => tls.secureContext(),
    certificate: tls.pair,
    failing,
    guard,
    clock,
    metrics,
    log,
    trusted: (ip) => inNetworks(ip, settings.trustProxy),
    doors: httpDoors(world),
  });
}

/** The name server, where the settings ask for it: the keys of every domain, and the domains that are led here. */
export function openDns({ settings, store, resolver, metrics, log }: Inside): Promise<DnsServer> | undefined {
  const hosts = dnsHosts(settings);
  const { dns: port } = settings.ports;
  if (port === undefined) return undefined;
  return startDns({ hosts, port, find: boxZones(store, resolver, settings.hostname), log, meter: metrics });
}
