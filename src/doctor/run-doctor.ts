import { statfs } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { lookUpDs } from '../../mail/dns/ds-lookup.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { type DomainInfo, listDomains } from '../../mail/store/address/domain.ts';
import { queueDepth } from '../../mail/store/queue/queue-rows.ts';
import { createTransport } from '../acme/transport.ts';
import { isEncrypted } from '../backup/backup-access.ts';
import { readStatus } from '../backup/backup-commands.ts';
import { readVerification } from '../backup/backup-verification.ts';
import { daneState } from '../certificates/dane.ts';
import { certificateStates } from '../certificates/state.ts';
import type { AreaContext } from '../core/area-context.ts';
import { type DeliverabilityReport, reportOn } from '../deliverability/report.ts';
import { stsFetcherOf } from '../deliverability/sts-fetcher.ts';
import { dnsConnections } from '../dns-providers/commands.ts';
import { managedDomain, publishedKeys } from '../domains/queries.ts';
import { keyZone } from '../domains/records.ts';
import { zoneKeyOf } from '../domains/zone-keys.ts';
import { resolverServers, secureResolver } from '../tls/outbound-tls.ts';
import { checkDane } from './dane-check.ts';
import { diagnose } from './diagnose.ts';
import { checkDnssec } from './dnssec-check.ts';
import { type HealthCheck, isHealthy } from './health-check.ts';
import { lastHealth, recordHealth } from './health-commands.ts';
import { portEvidence, recordPortEvidence } from './port-commands.ts';
import { smtpDialog } from './relay-test.ts';
import { scannerStates } from './scanner-state.ts';
import type { ServerFacts } from './server-checks.ts';

/** Time in which checks of domains begin, ms: the last of them may take 18 s longer. */
const SURVEY_MS = 8000;
/** The same for the hourly run, which nobody waits for. */
export const HOURLY_SURVEY_MS = 30 * 60_000;
const CLOCK_TIMEOUT_MS = 5000;

/** Parts of the appliance that the doctor reads. */
export type DoctorContext = Pick<
  AreaContext,
  | 'store'
  | 'secrets'
  | 'settings'
  | 'clock'
  | 'steadyClock'
  | 'log'
  | 'lookNow'
  | 'certificate'
  | 'failing'
  | 'ports'
  | 'refusedLogins'
>;

/** Result of one run. */
export interface HealthResult {
  ok: boolean;
  /** ms UTC. */
  checkedAt: number;
  checks: HealthCheck[];
}

/** Options of one run. */
export interface RunOptions {
  /** Mail server of others, to test port 25 outwards. */
  peer?: string | undefined;
  /** The run of the job: it takes its time. */
  hourly?: boolean;
  stop?: AbortSignal;
}

/** Runs all checks and stores the result, with the time from which each check fails. */
export async function runAllChecks(context: DoctorContext, options: RunOptions = {}): Promise<HealthResult> {
  const { store, settings, lookNow, clock } = context;
  const { hourly = false, stop } = options;
  const peer = await peerOf(context, options.peer);
  const hosted = await store.read(listDomains, undefined);
  const verified = new Map(hosted.filter((one) => one.verified).map((one) => [one.name, one]));
  const last = await store.read(lastHealth, undefined);
  const checks = await diagnose({
    facts: () => factsOf(context),
    settings,
    use: async () => ({ byProvider: await isByProvider(context, hosted) }),
    resolver: lookNow,
    dialog: smtpDialog,
    smtpPort: context.ports()['smtp'],
    inbound: () => store.read(portEvidence, { name: 'incoming' }),
    now: clock(),
    ownIpv6: ownIpv6(),
    peer,
    report: (name, resolver) => reportOf(context, verified.get(name) ?? { id: 0, name }, resolver),
    survey: {
      domains: [...verified.keys()],
      previous: last?.checks ?? [],
      clock,
      forMs: hourly ? HOURLY_SURVEY_MS : SURVEY_MS,
      hourlyMs: HOURLY_SURVEY_MS,
      failedFirst: !hourly,
      stop,
    },
    providers: () => store.read(dnsConnections, undefined),
    dane: async () => {
      const { hostname } = settings;
      const { pem } = context.certificate();
      return checkDane(await daneState(secureResolver(settings), hostname), { hostname, pem, now: context.clock() });
    },
    dnssec: (zone) => dnssecLines(context, zone),
    unverified: hosted.flatMap(({ name, verified: isVerified }) => (isVerified ? [] : [name])),
  });
  const { checkedAt } = await store.write(recordHealth, { checks });
  return { ok: isHealthy(checks), checkedAt, checks };
}

/** The line of a zone that this server serves: a domain that is led here, or the zone of the keys. */
async function dnssecLines({ store, settings, secrets, lookNow }: DoctorContext, zone: string): Promise<HealthCheck[]> {
  const { hostname, ports, resolvers } = settings;
  if (ports.dns === undefined) return [];
  const isServed =
    zone === keyZone(hostname)
      ? (await lookNow.ns(zone)).kind === 'found'
      : (await store.read(managedDomain, { name: zone })) !== undefined;
  if (!isServed) return [];
  return [checkDnssec(await lookUpDs(resolverServers(resolvers), zone), zoneKeyOf(secrets, zone))];
}

/** The mail server that the operator names now, or named last: the hourly run tests the same one. */
async function peerOf({ store }: DoctorContext, named: string | undefined): Promise<string | undefined> {
  if (named === undefined) return (await store.read(portEvidence, { name: 'peer' }))?.value;
  await store.write(recordPortEvidence, { name: 'peer', value: named });
  return named;
}

/** Global unicast addresses of this machine. RFC 4291 2.5.4. */
function ownIpv6(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.flatMap(({ address, family }) =>
    family === 'IPv6' && ipaddr.parse(address).range() === 'unicast' ? [address] : [],
  );
}

/** True if a DNS provider has the records of every hosted domain; the host's own name has none that are published. */
async function isByProvider({ store, settings }: DoctorContext, hosted: readonly DomainInfo[]): Promise<boolean> {
  const published = (await store.read(dnsConnections, undefined)).filter((one) => one.publishedAt !== null);
  const domains = hosted.filter(({ name }) => name !== settings.hostname);
  return domains.length > 0 && domains.every(({ id }) => published.some((one) => one.id === id));
}

async function reportOf(
  context: DoctorContext,
  domain: Pick<DomainInfo, 'id' | 'name'>,
  resolver: Resolver,
): Promise<DeliverabilityReport> {
  const keys = domain.id === 0 ? [] : await context.store.read(publishedKeys, { domain: domain.id });
  return reportOn({ ...context, lookNow: resolver, fetchSts: stsFetcherOf(context) }, { ...domain, keys });
}

async function factsOf(context: DoctorContext): Promise<ServerFacts> {
  const { settings, store, clock } = context;
  const [space, queue, { certificates }, backup, verified, scanners, skewMs] = await Promise.all([
    statfs(settings.dataDir),
    store.scan(queueDepth, undefined),
    certificateStates(context),
    readStatus(settings.dataDir),
    readVerification(settings.dataDir),
    scannerStates(settings),
    clockSkew(context),
  ]);
  const { pem, selfSigned } = context.certificate();
  const { target, everyMs } = settings.backup;
  return {
    now: clock(),
    clockState: context.steadyClock?.state() ?? { kind: 'steady' },
    live: settings.live,
    hostname: settings.hostname,
    failing: context.failing(),
    listeners: Object.entries(context.ports()).flatMap(([name, port]) => (port === undefined ? [] : [name])),
    certificate: {
      pem,
      selfSigned,
      automatic: settings.acme !== undefined,
      failing: certificates.flatMap(({ name, error }) => (error === null ? [] : [`${name}: ${error}`])),
    },
    disk: { free: space.bavail * space.bsize, total: space.blocks * space.bsize },
    queue,
    refusedLogins: context.refusedLogins(),
    damaged: store.unreadable,
    bucket: store.files.remote?.state ?? null,
    backup: {
      target: target !== undefined,
      everyMs,
      lastGoodAt: backup?.lastGoodAt ?? undefined,
      sealed: isEncrypted(settings.backup),
      problem: backup?.problem ?? undefined,
      damage: verified?.target === target ? (verified?.problem ?? undefined) : undefined,
    },
    skewMs,
    filter: { on: settings.spamChecks, scanners },
  };
}

/** Compares the clock with the Date field of the certificate authority's answer; undefined: not comparable. */
async function clockSkew({ settings, lookNow, clock }: DoctorContext): Promise<number | undefined> {
  if (settings.acme === undefined) return undefined;
  const transport = createTransport({ resolver: lookNow, timeoutMs: CLOCK_TIMEOUT_MS });
  try {
    const request = { method: 'GET', url: settings.acme.directory } as const;
    const { headers } = await transport(request, AbortSignal.timeout(CLOCK_TIMEOUT_MS));
    const date = Date.parse(headers['date'] ?? '');
    return Number.isNaN(date) ? undefined : clock() - date;
  } catch {
    return undefined;
  }
}
