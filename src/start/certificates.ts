import { X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../../mail/jobs/scheduler.ts';
import { createSecureResolver } from '../../mail/dns/secure-resolver.ts';
import { createTransport } from '../acme/transport.ts';
import { tlsaName } from '../certificates/dane.ts';
import { loadCertificates } from '../certificates/load.ts';
import { CertificateRenewal } from '../certificates/renewal.ts';
import { isPublicAddress } from '../../mail/dns/public-address.ts';
import { mayReach } from '../core/networks.ts';
import { providerPublisher } from '../dns-providers/challenge-publisher.ts';
import { textsAtServers } from '../dns-providers/zone-servers.ts';
import type { TxtPublisher } from '../acme/challenge-answers.ts';
import { ownZonePublisher } from '../name-server/challenge-texts.ts';
import { keyZone } from '../domains/records.ts';
import { boxZones, zoneServer } from '../domains/zones.ts';
import { resolverServers } from '../tls/outbound-tls.ts';
import type { Services } from './shared-parts.ts';

/** The job that renews certificates, where the settings name an authority. */
export function openCertificates(services: Services): Job[] {
  const { settings, store, secrets, resolver, lookNow, tls, challenges, log, acmeTest } = services;
  const { acme, hostname, ports } = settings;
  if (acme === undefined) return [];
  const { pair, selfSigned } = tls.own;
  const own = selfSigned ? undefined : new X509Certificate(pair.cert);
  const find = boxZones(store, resolver, zoneServer(settings));
  const ownServer = ports.dns === undefined ? [] : [ownZonePublisher(find, challenges, keyZone(hostname))];
  const publishers = [...ownServer, openProviderPublisher(services)];
  const renewal = new CertificateRenewal({
    ...services,
    log,
    settings: { hostname, baseUrl: settings.baseUrl, acme },
    // Not cached: people point a name here and wait.
    resolver: lookNow,
    transport: createTransport({ resolver, ...acmeTest }),
    answers: challenges,
    publishers,
    http: ports.http !== undefined,
    https: ports.https !== undefined,
    covered: (name) => own?.checkHost(name) !== undefined,
    tlsa: () => createSecureResolver({ servers: resolverServers(settings.resolvers) }).tlsa(tlsaName(hostname)),
    async changed() {
      tls.use(await loadCertificates({ store, secrets }, hostname));
      store.nodes?.signal({ kind: 'certificates' });
    },
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    random: Math.random,
    ...acmeTest,
  });
  return [renewal];
}

/** Answers DNS-01 at the DNS providers of connected domains. */
function openProviderPublisher({
  store,
  dnsPublisher,
  lookNow,
  settings,
  nameServerPort,
  log,
}: Services): TxtPublisher {
  const port = nameServerPort ?? 53;
  const mayQuery = (ip: string): boolean => isPublicAddress(ip) || mayReach(settings.allowPrivateNetworks, ip, port);
  return providerPublisher({
    store,
    publisher: dnsPublisher,
    textsAtServers: (zone, name) => textsAtServers({ resolver: lookNow, mayQuery, port }, zone, name),
    sleep: (ms) => sleep(ms),
    log,
  });
}
