import { isIP } from 'node:net';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { DeliverabilityReport } from '../deliverability/report.ts';
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
  /** Public IPv6 addresses of this machine. */
  ownIpv6: readonly string[];
  /** Mail server of others, to test port 25 outwards. */
  peer: string | undefined;
  /** Reports of verified domains, one at least: that of the public name itself where none is hosted. */
  reports: () => Promise<readonly { name: string; report: DeliverabilityReport }[]>;
  /** Domains that are not verified: their DNS is expected to be incomplete. */
  unverified: readonly string[];
  /** Domains whose records are at a DNS provider, with the reason why the last access failed. */
  providers: () => Promise<readonly { name: string; error: string | null }[]>;
  /** DANE of the host. */
  dane: () => Promise<HealthCheck>;
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
      return checkInboundPort({ hostname, addresses }, dialog);
    }),
    guarded('domains', () => domainGroups(input)),
    one('DANE', () => input.dane()),
    guarded('dns providers', async () => (await input.providers()).map(providerLine)),
  ];
}

async function domainGroups({ reports, resolver, settings, unverified }: DiagnosisInput): Promise<HealthCheck[]> {
  const all = await reports();
  const [first] = all;
  const hosted = all.filter(({ name }) => name !== settings.hostname);
  const lines = await Promise.all(
    hosted.map(async ({ name, report }) => [
      await checkMx(name, settings.hostname, resolver),
      ...domainChecks(name, report),
    ]),
  );
  return [
    ...(first === undefined ? [] : [reverseNameCheck(first.report), ...addressListChecks(first.report)]),
    ...lines.flat(),
    ...unverified.map(unverifiedLine),
  ];
}

function unverifiedLine(domain: string): HealthCheck {
  const why = `${domain} is not verified: it neither receives nor sends mail.`;
  const fix = 'Publish its DNS records (page of the domain), or delete it.';
  return unhealthy(`${domain}: verification`, 'warning', why, fix);
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
