import type { Resolver } from '../dns/lookup.ts';
import { type DmarcRecord, isDmarc, readDmarc } from './dmarc-record.ts';

/** Labels that a walk begins with behind its first question. RFC 9989 4.10. */
const MOST_LABELS = 7;

/** What is published above a domain. */
export interface Walk {
  /** From the domain itself upwards; only valid ones. */
  records: { domain: string; record: DmarcRecord }[];
  organization: string;
  /** Something on the way could not be looked up. */
  troubled: boolean;
}

/** The DNS tree walk of RFC 9989 4.10: what a domain and those above it publish, and which of them is the organization. */
export async function walk(domain: string, resolver: Resolver): Promise<Walk> {
  const names = namesOf(domain);
  // All at once: one time there and back, and most of it is in the cache.
  const answers = await Promise.all(names.map((name) => resolver.txt(`_dmarc.${name}`)));
  const records: Walk['records'] = [];
  let troubled = false;
  for (const [at, name] of names.entries()) {
    const found = answers[at];
    // What is above it might be cut off by what is not known: an organization is rather taken for too small.
    if ((troubled = found?.kind === 'trouble')) break;
    const texts = found?.kind === 'found' ? found.records.filter(isDmarc) : [];
    // RFC 9989 4.10: several records at one name are none.
    const record = texts.length === 1 && texts[0] !== undefined ? readDmarc(texts[0]) : undefined;
    if (record === undefined) continue;
    records.push({ domain: name, record });
    if (record.suffix !== 'u') break;
  }
  return { records, organization: organizationOf(domain, records), troubled };
}

function namesOf(domain: string): string[] {
  const labels = domain.split('.');
  const above = labels.slice(Math.max(1, labels.length - MOST_LABELS));
  return [domain, ...above.map((_, at) => above.slice(at).join('.'))];
}

/** RFC 9989 4.10.2. */
function organizationOf(domain: string, records: Walk['records']): string {
  const last = records.at(-1);
  if (last === undefined) return domain;
  if (last.record.suffix !== 'y' || last.domain === domain) return last.domain;
  // One label below the public suffix.
  const labels = domain.split('.');
  return labels.slice(labels.length - last.domain.split('.').length - 1).join('.');
}
