import type { Resolver } from '../dns/lookup.ts';
import { type DmarcRecord, isDmarc, readDmarc } from './dmarc-record.ts';

/** Labels of the second query; longer names are shortened to this. RFC 9989 4.10. */
const MAX_LABELS = 7;

/** Result of a DNS tree walk. */
export interface DnsTreeWalk {
  /** Valid records, from the domain itself upwards. */
  records: { domain: string; record: DmarcRecord }[];
  organization: string;
  /** A lookup on the way failed. */
  lookupFailed: boolean;
}

/** Walks the DNS tree from a domain upwards to find DMARC records and the organizational domain. RFC 9989 4.10. */
export async function walkDnsTree(domain: string, resolver: Resolver): Promise<DnsTreeWalk> {
  const names = namesOf(domain);
  // Queries run in parallel: one round trip, and most answers are cached.
  const answers = await Promise.all(names.map((name) => resolver.txt(`_dmarc.${name}`)));
  const records: DnsTreeWalk['records'] = [];
  let troubled = false;
  for (const [at, name] of names.entries()) {
    const found = answers[at];
    // A record that failed to resolve could end the walk here: prefer the smaller organization.
    if ((troubled = found?.kind === 'trouble')) break;
    const texts = found?.kind === 'found' ? found.records.filter(isDmarc) : [];
    // RFC 9989 4.10: several records at one name count as none.
    const record = texts.length === 1 && texts[0] !== undefined ? readDmarc(texts[0]) : undefined;
    if (record === undefined) continue;
    records.push({ domain: name, record });
    if (record.suffix !== 'u') break;
  }
  return { records, organization: organizationOf(domain, records), lookupFailed: troubled };
}

function namesOf(domain: string): string[] {
  const labels = domain.split('.');
  const above = labels.slice(Math.max(1, labels.length - MAX_LABELS));
  return [domain, ...above.map((_, at) => above.slice(at).join('.'))];
}

/** Determines the organizational domain. RFC 9989 4.10.2. */
function organizationOf(domain: string, records: DnsTreeWalk['records']): string {
  const last = records.at(-1);
  if (last === undefined) return domain;
  if (last.record.suffix !== 'y' || last.domain === domain) return last.domain;
  // One label below the public suffix.
  const labels = domain.split('.');
  return labels.slice(labels.length - last.domain.split('.').length - 1).join('.');
}
