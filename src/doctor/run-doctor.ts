import { statfs } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { type DomainInfo, listDomains } from '../../mail/store/address/domain.ts';
import { queueDepth } from '../../mail/store/queue/queue-rows.ts';
import { createTransport } from '../acme/transport.ts';
import { readStatus } from '../backup/backup-commands.ts';
import { readVerification } from '../backup/backup-verification.ts';
import { daneState } from '../certificates/dane.ts';
import { certificateStates } from '../certificates/state.ts';
import type { AreaContext } from '../core/area-context.ts';
import { type DeliverabilityReport, reportOn } from '../deliverability/report.ts';
import { stsFetcherOf } from '../deliverability/sts-fetcher.ts';
import { dnsConnections } from '../dns-providers/commands.ts';
import { publishedKeys } from '../domains/queries.ts';
import { secureResolver } from '../tls/outbound-tls.ts';
import { checkDane } from './dane-check.ts';
import { diagnose } from './diagnose.ts';
import { type HealthCheck, isHealthy } from './health-check.ts';
import { recordHealth } from './health-commands.ts';
import { smtpDialog } from './relay-test.ts';
import { scannerStates } from './scanner-state.ts';
import type { ServerFacts } from './server-checks.ts';

/** Domains of which the DNS is checked; `domain` commands check others. */
const MAX_DOMAINS = 20;
const CLOCK_TIMEOUT_MS = 5000;

/** Parts of the appliance that the doctor reads. */
export type DoctorContext = Pick<
  AreaContext,
  | 'store'
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

/** Runs all checks and stores the result, with the time from which each check fails. */
export async function runAllChecks(context: DoctorContext, peer?: string): Promise<HealthResult> {
  const { store, settings, lookNow } = context;
  const hosted = (await store.read(listDomains, undefined)).slice(0, MAX_DOMAINS);
  const verified = hosted.filter((one) => one.verified);
  const checks = await diagnose({
    facts: () => factsOf(context),
    settings,
    use: async () => ({ byProvider: await isByProvider(context, hosted) }),
    resolver: lookNow,
    dialog: smtpDialog,
    smtpPort: context.ports()['smtp'],
    ownIpv6: ownIpv6(),
    peer,
    reports: () => reportsOf(context, verified),
    providers: () => store.read(dnsConnections, undefined),
    dane: async () => {
      const { hostname } = settings;
      const { pem } = context.certificate();
      return checkDane(await daneState(secureResolver(settings), hostname), { hostname, pem, now: context.clock() });
    },
    unverified: hosted.flatMap(({ name, verified: isVerified }) => (isVerified ? [] : [name])),
  });
  const { checkedAt } = await store.write(recordHealth, { checks });
  return { ok: isHealthy(checks), checkedAt, checks };
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

async function reportsOf(
  context: DoctorContext,
  hosted: readonly DomainInfo[],
): Promise<{ name: string; report: DeliverabilityReport }[]> {
  const { store, settings } = context;
  const fetchSts = stsFetcherOf(context);
  const known = await Promise.all(
    hosted.map(async (one) => ({ ...one, keys: await store.read(publishedKeys, { domain: one.id }) })),
  );
  const domains = known.length > 0 ? known : [{ id: 0, name: settings.hostname, keys: [] }];
  return Promise.all(
    domains.map(async (one) => ({ name: one.name, report: await reportOn({ ...context, fetchSts }, one) })),
  );
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
  const { target, everyMs, passphrase, passphraseFile } = settings.backup;
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
      sealed: passphrase !== undefined || passphraseFile !== undefined,
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
