import { isIP } from 'node:net';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { DeliverabilityReport } from '../deliverability/report.ts';
import { asksOnce } from '../domains/check.ts';
import { keyZone } from '../domains/records.ts';
import { type DomainSurveyInput, surveyCheck, surveyDomains, unverifiedChecks } from './domain-survey.ts';
import { type HealthCheck, healthy, unhealthy } from './health-check.ts';
import {
  addressListChecks,
  checkEhloName,
  checkHostname,
  checkIpv6,
  checkMx,
  checkResolver,
  domainChecks,
  reverseNameCheck,
} from './network-checks.ts';
import { checkInboundPort, checkOpenRelay, checkOutboundPort, type SmtpDialog } from './relay-test.ts';
import { checkServer, type ServerFacts } from './server-checks.ts';
import { type CheckedSettings, checkSettings, type SettingsUse } from './settings-checks.ts';

/** Everything that the checks need: facts of the machine, and interfaces to the world. */
export interface DiagnosisInput {
  facts: () => Promise<ServerFacts>;
  settings: CheckedSettings & { outboundHostname: string | undefined };
  /** Facts beside the settings. */
  use: () => Promise<SettingsUse>;
  resolver: Resolver;
  dialog: SmtpDialog;
  /** Port of the SMTP listener; undefined: off. */
  smtpPort: number | undefined;
  /** Last connection from a public address to the MX listener; undefined: none ever. */
  inbound: () => Promise<{ value: string; at: number } | undefined>;
  now: number;
  /** Public IPv6 addresses of this machine. */
  ownIpv6: readonly string[];
  /** Mail server of others, to test port 25 outwards. */
  peer: string | undefined;
  /** Report of a verified domain, or of the public name itself. */
  report: (domain: string, resolver: Resolver) => Promise<DeliverabilityReport>;
  /** Verified domains, and how they are checked. */
  survey: Omit<DomainSurveyInput, 'check'> & { hourlyMs: number };
  /** Domains that are not verified: their DNS is expected to be incomplete. */
  unverified: readonly string[];
  /** Domains whose records are at a DNS provider, with the reason why the last access failed. */
  providers: () => Promise<readonly { name: string; error: string | null }[]>;
  /** DANE of the host. */
  dane: () => Promise<HealthCheck>;
  /** DNSSEC of a zone, if this server serves it. */
  dnssec: (zone: string) => Promise<HealthCheck[]>;
}

/** Public addresses that are tried on port 25. */
const MAX_ADDRESSES = 4;

/** Runs all checks. Never rejects: a check that fails to run is a line of its own. */
export async function diagnose(input: DiagnosisInput): Promise<HealthCheck[]> {
  const { facts, settings, smtpPort, dialog, peer } = input;
  const groups = await Promise.all([
    guarded('server', async () => checkServer(await facts())),
    guarded('settings', async () => checkSettings(settings, await input.use())),
    guarded('open relay', async () => [await checkOpenRelay(smtpPort, dialog, settings.listen)]),
    ...(peer === undefined ? [] : [guarded('outgoing port 25', async () => [await outboundCheck(input, peer)])]),
    ...(settings.live ? networkGroups(input) : []),
  ]);
  return groups.flat();
}

/** Finds the peer as the relay finds its receivers: by the resolvers of the settings. */
async function outboundCheck({ resolver, settings, dialog }: DiagnosisInput, peer: string): Promise<HealthCheck> {
  const found = isIP(peer) === 0 ? await Promise.all([resolver.a(peer), resolver.aaaa(peer)]) : [];
  const [address = peer] = found.flatMap((of) => (of.kind === 'found' ? [...of.records] : []));
  return checkOutboundPort({ peer, address, port: settings.outboundPort }, dialog);
}

function networkGroups(input: DiagnosisInput): Promise<HealthCheck[]>[] {
  const { resolver, settings, ownIpv6, dialog } = input;
  const { hostname, listen } = settings;
  const one = (name: string, run: () => Promise<HealthCheck>): Promise<HealthCheck[]> =>
    guarded(name, async () => [await run()]);
  return [
    one('resolver', () => checkResolver(resolver)),
    one('host name', () => checkHostname(hostname, resolver)),
    one('EHLO name', () => checkEhloName(settings.outboundHostname ?? hostname, resolver)),
    one('IPv6', () => checkIpv6({ hostname, listen, own: ownIpv6 }, resolver)),
    one('incoming port 25', async () => {
      const found = await Promise.all([resolver.a(hostname), resolver.aaaa(hostname)]);
      const addresses = found.flatMap((of) => (of.kind === 'found' ? [...of.records] : [])).slice(0, MAX_ADDRESSES);
      return checkInboundPort({ hostname, addresses, last: await input.inbound(), now: input.now }, dialog);
    }),
    guarded('domains', () => domainGroups(input)),
    one('DANE', () => input.dane()),
    guarded(`${keyZone(hostname)}: dnssec`, () => input.dnssec(keyZone(hostname))),
    guarded('dns providers', async () => (await input.providers()).map(providerLine)),
  ];
}

async function domainGroups(input: DiagnosisInput): Promise<HealthCheck[]> {
  const { survey, settings, unverified } = input;
  // All reports look up the addresses of this server, and the test entries of the lists.
  const shared = sharedResolver(input.resolver);
  let first: DeliverabilityReport | undefined;
  const check = (name: string): Promise<HealthCheck[]> =>
    guarded(`${name}: checks`, async () => {
      const resolver = shared();
      const [report, mx, dnssec] = await Promise.all([
        input.report(name, resolver),
        checkMx(name, settings.hostname, resolver),
        input.dnssec(name),
      ]);
      first ??= report;
      return [mx, ...domainChecks(name, report), ...dnssec];
    });
  // The host's own name has checks of its own.
  const domains = survey.domains.filter((name) => name !== settings.hostname);
  const found = await surveyDomains({ ...survey, domains, check });
  const report = first ?? (await input.report(settings.hostname, shared()));
  return [
    reverseNameCheck(report),
    ...addressListChecks(report),
    surveyCheck(found, { ...survey, now: survey.clock() }),
    ...found.lines,
    ...unverifiedChecks(unverified),
  ];
}

/** Time for which lookups are shared, ms: an hourly run may take much longer. */
const SHARED_MS = 60_000;

function sharedResolver(resolver: Resolver): () => Resolver {
  let [shared, since] = [asksOnce(resolver), performance.now()];
  return () => {
    if (performance.now() - since > SHARED_MS) [shared, since] = [asksOnce(resolver), performance.now()];
    return shared;
  };
}

function providerLine({ name, error }: { name: string; error: string | null }): HealthCheck {
  const line = `${name}: dns provider`;
  if (error === null) return healthy(line, `The DNS provider of ${name} gave access to its records.`);
  const fix = `Connect ${name} again with valid credentials, then publish its records (page of the domain).`;
  return unhealthy(line, 'warning', `The last access to the DNS provider of ${name} failed: ${error}`, fix);
}

async function guarded(name: string, run: () => Promise<HealthCheck[]>): Promise<HealthCheck[]> {
  try {
    return await run();
  } catch (error) {
    const why = `The check could not run: ${(error as Error).message}.`;
    return [unhealthy(name, 'unknown', why, 'Read the log of the server; run it again.')];
  }
}
