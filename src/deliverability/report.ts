import type { Settings } from '../../config/settings.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { Log } from '../../mail/log.ts';
import type { FetchStsPolicy } from '../../mail/relay/tls-policy/sts-fetch.ts';
import { type Check, examine, within } from '../domains/check.ts';
import type { Published } from '../domains/records.ts';
import { authorises } from '../domains/spf.ts';
import { type Origin, originOf, reverseCheck } from './addresses.ts';
import { type Listed, listings, listingsCheck } from './blocklists.ts';
import { certificateCheck } from './certificate.ts';
import { type Checked, checkedBy, unknown } from './checked.ts';
import { dmarcCheck, mtaStsCheck } from './policies.ts';

export interface ReportContext {
  settings: Settings;
  /** Remembers nothing: people look just after they have changed something. */
  lookNow: Resolver;
  fetchSts: FetchStsPolicy;
  certificate: () => { pem: string; selfSigned: boolean };
  /** ms UTC. */
  clock: () => number;
  log: Log;
}

export const CHECKS = ['spf', 'dkim', 'dmarc', 'ptr', 'tls', 'mtaSts'] as const;

/** What receivers make of mail of a domain from this box, as far as it can be seen from here. */
export type Report = Record<(typeof CHECKS)[number], Checked> & { blocklists: Listed[] };

/** Of one report with all its questions, ms. */
const LONGEST_MS = 18_000;

const LOCAL = unknown('local mode: nothing is asked of the network');
const SMARTHOST = 'mail leaves by the smarthost, whose addresses are not known here';

/** Looks at everything now. Never rejects; what is not answered in time is unknown. In local mode nobody is asked. */
export async function reportOn(context: ReportContext, domain: Published): Promise<Report> {
  const { settings, lookNow, certificate, clock, log, fetchSts: fetch } = context;
  if (!settings.live) {
    return { spf: LOCAL, dkim: LOCAL, dmarc: LOCAL, ptr: LOCAL, tls: LOCAL, mtaSts: LOCAL, blocklists: [] };
  }
  const resolver = within(lookNow, LONGEST_MS);
  const { hostname } = settings;
  const box = { hostname, byName: settings.ports.dns !== undefined };
  const [{ checks }, origin] = await Promise.all([examine(resolver, domain, box), originOf(settings, resolver)]);
  const relayed = settings.smarthost?.use === 'always';
  const addresses = relayed ? [] : origin.addresses;
  const [spf, dmarc, ptr, mtaSts, blocklists] = await Promise.all([
    relayed ? unknown(SMARTHOST) : spfCheck(resolver, domain.name, origin, checks.spf),
    dmarcCheck(domain.name, resolver),
    relayed ? unknown(SMARTHOST) : reverseCheck(origin, resolver),
    mtaStsCheck(domain.name, hostname, { resolver, fetch }),
    listings({ settings, resolver, log }, { addresses, domain: domain.name }),
  ]);
  const dkim = checkedBy(
    checks.dkim,
    `Publish the DKIM records that list_dns_records has for ${domain.name}, then call verify_email_domain.`,
  );
  return { spf, dkim, dmarc, ptr, tls: certificateCheck(certificate(), hostname, clock()), mtaSts, blocklists };
}

/** Where the settings name the addresses, only they count: the public name may lead elsewhere. */
async function spfCheck(resolver: Resolver, domain: string, origin: Origin, seen: Check): Promise<Checked> {
  const { given, addresses } = origin;
  const check = given ? await authorises(resolver, domain, { hostname: '', addresses }) : seen;
  const named = given ? addresses.map((ip) => `${ip.includes(':') ? 'ip6' : 'ip4'}:${ip}`).join(' ') : 'mx';
  return checkedBy(check, `Let the one SPF record of ${domain} name this server, before its "all": ${named}.`);
}

/** The share of checks that pass among those that are known, 0 to 100; the lists count as one. Null: none is known. */
export function scoreOf(report: Report): number | null {
  const known = [...CHECKS.map((name) => report[name]), listingsCheck(report.blocklists)].filter(
    ({ status }) => status === 'pass' || status === 'fail',
  );
  if (known.length === 0) return null;
  return Math.round((100 * known.filter(({ status }) => status === 'pass').length) / known.length);
}

/** What to do, in the order of the checks: what is wrong first, then advice. */
export function fixesOf(report: Report): string[] {
  const all = [...CHECKS.map((name) => report[name]), ...report.blocklists];
  const wrong = all.filter(({ status }) => status === 'fail');
  const fine = all.filter(({ status }) => status !== 'fail');
  return [...wrong, ...fine].flatMap(({ fix }) => fix ?? []);
}
