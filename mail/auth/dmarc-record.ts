import { trimBlanks } from './tag-list.ts';

export type DmarcPolicy = 'none' | 'quarantine' | 'reject';

/** What a domain publishes for DMARC. */
export interface DmarcRecord {
  /** For the domain itself, for those below it, and for those below it that do not exist. */
  policy: DmarcPolicy;
  below: DmarcPolicy;
  missing: DmarcPolicy;
  /** Only the very domain is aligned, by DKIM and by SPF. */
  strict: { dkim: boolean; spf: boolean };
  /** `psd=`: whether it is a public suffix, `u` where it does not say. */
  suffix: 'y' | 'n' | 'u';
}

const LONGEST = 4096;
const URI = /^[a-z][a-z0-9+.-]*:[^\s,]+$/i;
const ONE_LESS: Record<DmarcPolicy, DmarcPolicy> = { reject: 'quarantine', quarantine: 'none', none: 'none' };

/** Whether a TXT record is one of DMARC: the version comes first, as it is written. RFC 9989 4.7. */
export function isDmarc(text: string): boolean {
  return /^v[ \t]{0,20}=[ \t]{0,20}DMARC1[ \t]{0,20}(?:;|$)/.test(text);
}

/**
 * Reads a policy record; undefined for one that nothing is done about. A record whose policy cannot be read and that asks
 * for reports is one of `p=none`. What is being tested (`t=y`) counts one step less. RFC 9989 4.7, 4.10.1.
 */
export function readDmarc(text: string): DmarcRecord | undefined {
  if (text.length > LONGEST) return undefined;
  const tags = readLoosely(text);
  const policies = (['p', 'sp', 'np'] as const).map((name) => policyOf(tags.get(name)));
  const [own, below, missing] = policies;
  const rest = {
    strict: { dkim: isSet(tags, 'adkim', 's'), spf: isSet(tags, 'aspf', 's') },
    suffix: isSet(tags, 'psd', 'y') ? 'y' : isSet(tags, 'psd', 'n') ? 'n' : 'u',
  } as const;
  if (own === undefined || policies.includes('unknown')) {
    const reports = (tags.get('rua') ?? '').split(',').some((uri) => URI.test(trimBlanks(uri)));
    return reports ? { policy: 'none', below: 'none', missing: 'none', ...rest } : undefined;
  }
  const lessen = isSet(tags, 't', 'y') ? (one: DmarcPolicy) => ONE_LESS[one] : (one: DmarcPolicy) => one;
  const [p, sp, np] = [own, below ?? own, missing ?? below ?? own] as DmarcPolicy[];
  return { policy: lessen(p ?? 'none'), below: lessen(sp ?? 'none'), missing: lessen(np ?? 'none'), ...rest };
}

/** The first of each name counts, and what is no tag is passed over: a slip of the pen shall not open a domain. */
function readLoosely(text: string): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    const name = trimBlanks(part.slice(0, Math.max(0, equals))).toLowerCase();
    if (equals > 0 && !tags.has(name)) tags.set(name, trimBlanks(part.slice(equals + 1)));
  }
  return tags;
}

function policyOf(text: string | undefined): DmarcPolicy | 'unknown' | undefined {
  const value = text?.toLowerCase();
  if (value === undefined || value === 'none' || value === 'quarantine' || value === 'reject') return value;
  return 'unknown';
}

function isSet(tags: ReadonlyMap<string, string>, name: string, value: string): boolean {
  return tags.get(name)?.toLowerCase() === value;
}
