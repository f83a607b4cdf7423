import type { Settings } from '../../config/settings.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { Log } from '../../mail/log.ts';
import type { FetchStsPolicy } from '../../mail/relay/tls-policy/sts-fetch.ts';
import { type RecordCheck, examineDomain, within } from '../domains/check.ts';
import { addressTerms, type PublishedDomain, dmarcText, recordServer } from '../domains/records.ts';
import { sendingAddresses, type SendingServer, sendingServer } from '../domains/sending-server.ts';
import { type BlocklistCheck, checkBlocklists, blocklistSummary } from './blocklists.ts';
import { type DeliverabilityCheck, checkedBy, unknown, fail, pass, worstOf } from './checked.ts';
import { reverseNames } from '../../mail/auth/reverse-name.ts';
import { X509Certificate } from 'node:crypto';
import { isDmarc } from '../../mail/auth/dmarc-record.ts';
import { walkDnsTree } from '../../mail/auth/dmarc-walk.ts';
import { matchesMx, readStsRecord } from '../../mail/relay/tls-policy/sts-text.ts';

export interface ReportContext {
  settings: Settings;
  /** No cache: people check right after a change. */
  lookNow: Resolver;
  fetchSts: FetchStsPolicy;
  certificate: () => { pem: string; selfSigned: boolean };
  /** ms UTC. */
  clock: () => number;
  log: Log;
}

export const CHECKS = ['spf', 'dkim', 'dmarc', 'ptr', 'tls', 'mtaSts'] as const;

/** Deliverability of a domain's mail from this box, as far as it can be checked from here. */
export type DeliverabilityReport = Record<(typeof CHECKS)[number], DeliverabilityCheck> & {
  blocklists: BlocklistCheck[];
};

/** Time limit for all lookups of one report, ms. */
const MAX_REPORT_MS = 18_000;

const LOCAL = unknown('not checked in local mode');
export const SMARTHOST = 'mail is sent through the smarthost, whose addresses are unknown';

/** Runs all checks. Never rejects; a check without a timely answer is unknown. Local mode queries nothing. */
export async function reportOn(context: ReportContext, domain: PublishedDomain): Promise<DeliverabilityReport> {
  const { settings, lookNow, certificate, clock, log, fetchSts: fetch } = context;
  if (!settings.live) {
    return { spf: LOCAL, dkim: LOCAL, dmarc: LOCAL, ptr: LOCAL, tls: LOCAL, mtaSts: LOCAL, blocklists: [] };
  }
  const resolver = within(lookNow, MAX_REPORT_MS);
  const { hostname } = settings;
  const server = sendingServer(settings);
  const box = { ...server, ...recordServer(settings) };
  const [{ checks }, origin] = await Promise.all([examineDomain(resolver, domain, box), originOf(settings, resolver)]);
  const { relayed } = server;
  const addresses = relayed === true ? [] : origin.addresses;
  const [dmarc, ptr, mtaSts, blocklists] = await Promise.all([
    dmarcCheck(domain.name, resolver),
    relayed === true ? unknown(SMARTHOST) : reverseCheck(origin, resolver),
    mtaStsCheck(domain.name, hostname, { resolver, fetch }),
    checkBlocklists({ settings, resolver, log }, { addresses, domain: domain.name }),
  ]);
  const dkim = checkedBy(
    checks.dkim,
    `Publish the DKIM records of ${domain.name} (see list_dns_records), then call verify_email_domain.`,
  );
  const spf = spfCheck(domain.name, server, checks.spf);
  return { spf, dkim, dmarc, ptr, tls: certificateCheck(certificate(), hostname, clock()), mtaSts, blocklists };
}

/** SPF as the verification of the domain found it. Behind a smarthost a valid record says nothing about its addresses. */
function spfCheck(domain: string, server: SendingServer, seen: RecordCheck): DeliverabilityCheck {
  if (server.relayed === true && seen.status === 'pass') return unknown(SMARTHOST);
  const named = server.outbound === undefined ? 'mx' : addressTerms(server.outbound).join(' ');
  const fix =
    server.relayed === true
      ? `Correct the SPF record of ${domain}; it has to authorize the smarthost.`
      : `Add this server to the SPF record of ${domain}, before its "all": ${named}.`;
  return checkedBy(seen, fix);
}

/** Share of passed checks among the known ones, 0 to 100; the lists count as one. Null if none is known. */
export function scoreOf(report: DeliverabilityReport): number | null {
  const known = [...CHECKS.map((name) => report[name]), blocklistSummary(report.blocklists)].filter(
    ({ status }) => status === 'pass' || status === 'fail',
  );
  if (known.length === 0) return null;
  return Math.round((100 * known.filter(({ status }) => status === 'pass').length) / known.length);
}

/** Advice in the order of the checks: failures first. */
export function fixesOf(report: DeliverabilityReport): string[] {
  const all = [...CHECKS.map((name) => report[name]), ...report.blocklists];
  const wrong = all.filter(({ status }) => status === 'fail');
  const fine = all.filter(({ status }) => status !== 'fail');
  return [...wrong, ...fine].flatMap(({ fix }) => fix ?? []);
}

/** Source of this box's outgoing mail, as receivers see it. */
interface MailOrigin {
  /** EHLO name. */
  name: string;
  addresses: readonly string[];
  /** Result to report if no address is known. */
  missing?: DeliverabilityCheck;
}

async function originOf(settings: Settings, resolver: Resolver): Promise<MailOrigin> {
  const { hostname, outboundHostname } = settings;
  const name = outboundHostname ?? hostname;
  const { addresses, missing } = await sendingAddresses(sendingServer(settings), resolver);
  if (missing === undefined) return { name, addresses };
  if (missing.status === 'pending')
    return { name, addresses, missing: unknown(`cannot look up the addresses of ${hostname} (DNS failure)`) };
  const fix = `Publish the address of this server as the A record of ${hostname}.`;
  return { name, addresses, missing: fail(`${hostname} has no address`, fix) };
}

/** Checks that each address has our EHLO name as PTR, and that the name resolves back to it. RFC 8601 2.7.3. */
async function reverseCheck(
  { name, addresses, missing }: MailOrigin,
  resolver: Resolver,
): Promise<DeliverabilityCheck> {
  if (missing !== undefined) return missing;
  return worstOf(await Promise.all(addresses.map((ip) => reverseOf(ip, name, resolver))));
}

async function reverseOf(ip: string, name: string, resolver: Resolver): Promise<DeliverabilityCheck> {
  const fix = `Ask the provider of ${ip} to set its reverse name (PTR) to ${name}, and point ${name} to ${ip}.`;
  const found = await reverseNames(ip, resolver);
  if (found.kind === 'trouble') return unknown(`cannot look up the reverse name of ${ip} (DNS failure)`);
  if (found.kind === 'none') return fail(`${ip} has no reverse name`, fix);
  if (found.validated.includes(name)) return pass(`${ip} has the reverse name ${name}, which resolves back to it`);
  if (found.unsure) return unknown(`cannot verify the reverse name of ${ip} (DNS failure)`);
  const [other] = found.validated;
  if (other === undefined) return fail(`the reverse name of ${ip} does not resolve back to it`, fix);
  return fail(`${ip} has the reverse name ${other}, but this server's EHLO name is ${name}`, fix);
}

/** Days before expiry from which renewal is advised. */
const SOON_DAYS = 7;

/** Checks that the TLS certificate of all listeners is valid for the public name. `now` in ms UTC. */
function certificateCheck(
  { pem, selfSigned }: { pem: string; selfSigned: boolean },
  hostname: string,
  now: number,
): DeliverabilityCheck {
  const read = new X509Certificate(pem);
  const set = `Set MAILSTEAD_ACME_EMAIL, or MAILSTEAD_TLS_CERT and MAILSTEAD_TLS_KEY to a certificate for ${hostname}.`;
  if (selfSigned) return fail('the certificate is self-signed, so clients cannot verify it', set);
  if (read.checkHost(hostname) === undefined) return fail(`the certificate is not for ${hostname}`, set);
  const days = Math.floor((read.validToDate.getTime() - now) / 86_400_000);
  if (days < 0 || read.validFromDate.getTime() > now) return fail('the certificate is not valid now', RENEW);
  const detail = `the certificate is for ${hostname}, and valid for ${days} more days`;
  return days < SOON_DAYS ? { ...pass(detail), fix: RENEW } : pass(detail);
}

const RENEW =
  'Renew the certificate: "mailstead certificate list" says why an automatic one is late; files are read again when they change.';

/** Checks the DMARC record of a domain, or of its organizational domain. RFC 9989 4.10. */
async function dmarcCheck(domain: string, resolver: Resolver): Promise<DeliverabilityCheck> {
  const { records, organization, lookupFailed: troubled } = await walkDnsTree(domain, resolver);
  const own = records.find((one) => one.domain === domain);
  const found = own ?? records.find((one) => one.domain === organization);
  if (found === undefined) {
    if (troubled) return unknown(`cannot look up _dmarc.${domain} (DNS failure)`);
    const several = await dmarcRecords(domain, resolver);
    // RFC 9989 4.10.
    if (several > 1)
      return fail(
        `_dmarc.${domain} has ${several} DMARC records, which count as none`,
        `Delete all DMARC records of ${domain} but one.`,
      );
    const fix = `Publish the TXT record _dmarc.${domain} with "${dmarcText(domain)}": large receivers require one from bulk senders.`;
    return fail(`no DMARC record at _dmarc.${domain} or above`, fix);
  }
  const policy = own === undefined ? found.record.below : found.record.policy;
  const detail = `_dmarc.${found.domain} has the policy ${policy}`;
  if (policy !== 'none') return pass(detail);
  return {
    ...pass(`${detail}: receivers only report`),
    fix: `Advice: once all mail of ${domain} passes, publish p=quarantine at _dmarc.${found.domain}, so that nobody can forge its address.`,
  };
}

/** Number of DMARC records at the name of a domain. */
async function dmarcRecords(domain: string, resolver: Resolver): Promise<number> {
  const found = await resolver.txt(`_dmarc.${domain}`);
  return found.kind === 'found' ? found.records.filter(isDmarc).length : 0;
}

/** Checks the MTA-STS policy of a domain: it must be valid, and match this server's MX name. RFC 8461. */
async function mtaStsCheck(
  domain: string,
  hostname: string,
  { resolver, fetch }: { resolver: Resolver; fetch: FetchStsPolicy },
): Promise<DeliverabilityCheck> {
  const found = await resolver.txt(`_mta-sts.${domain}`);
  if (found.kind === 'trouble') return unknown(`cannot look up _mta-sts.${domain} (DNS failure)`);
  if (found.kind === 'none' || readStsRecord(found.records).kind === 'none') {
    return { status: 'none', detail: `${domain} has no MTA-STS policy; mail arrives without one too` };
  }
  const fetched = await fetch(domain);
  const mend = `Serve a valid policy at https://mta-sts.${domain}/.well-known/mta-sts.txt, or remove _mta-sts.${domain}.`;
  if (!('policy' in fetched)) return fail(`cannot fetch the announced policy: ${fetched.why}`, mend);
  const { mode, mx } = fetched.policy;
  if (mode !== 'none' && !matchesMx(mx, hostname)) {
    return fail(`the policy does not name ${hostname}`, `Add "mx: ${hostname}" to the MTA-STS policy of ${domain}.`);
  }
  return pass(`the policy mode is ${mode}`);
}
