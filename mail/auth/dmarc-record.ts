import { trimBlanks } from './tag-list.ts';

export type DmarcPolicy = 'none' | 'quarantine' | 'reject';

/** Published DMARC record. */
export interface DmarcRecord {
  /** `p=`, `sp=` and `np=`: the domain, its subdomains, and subdomains that do not exist. */
  policy: DmarcPolicy;
  below: DmarcPolicy;
  missing: DmarcPolicy;
  /** Strict alignment (`adkim=s`, `aspf=s`). */
  strict: { dkim: boolean; spf: boolean };
  /** `psd=`: public suffix domain; `u` if not stated. */
  suffix: 'y' | 'n' | 'u';
  /** `rua=` has a URI: the domain asks for aggregate reports. */
  reports?: true;
}

const MAX_RECORD_CHARS = 4096;
const URI = /^[a-z][a-z0-9+.-]*:[^\s,]+$/i;
const WEAKER: Record<DmarcPolicy, DmarcPolicy> = { reject: 'quarantine', quarantine: 'none', none: 'none' };

/** True for a TXT record that begins with the DMARC version tag, case-sensitive. RFC 9989 4.7. */
export function isDmarc(text: string): boolean {
  return /^v[ \t]{0,20}=[ \t]{0,20}DMARC1[ \t]{0,20}(?:;|$)/.test(text);
}

/**
 * Parses a policy record; undefined if it has no effect. An unreadable policy with a valid `rua=` counts as `p=none`.
 * Test mode (`t=y`) lowers each policy by one step. RFC 9989 4.7, 4.10.1.
 */
export function readDmarc(text: string): DmarcRecord | undefined {
  if (text.length > MAX_RECORD_CHARS) return undefined;
  const tags = readLoosely(text);
  const policies = (['p', 'sp', 'np'] as const).map((name) => policyOf(tags.get(name)));
  const [own, below, missing] = policies;
  const reports = (tags.get('rua') ?? '').split(',').some((uri) => URI.test(trimBlanks(uri)));
  const rest = {
    strict: { dkim: isSet(tags, 'adkim', 's'), spf: isSet(tags, 'aspf', 's') },
    suffix: isSet(tags, 'psd', 'y') ? 'y' : isSet(tags, 'psd', 'n') ? 'n' : 'u',
    ...(reports && { reports }),
  } as const;
  if (own === undefined || policies.includes('unknown')) {
    return reports ? { policy: 'none', below: 'none', missing: 'none', ...rest } : undefined;
  }
  const lessen = isSet(tags, 't', 'y') ? (one: DmarcPolicy) => WEAKER[one] : (one: DmarcPolicy) => one;
  const [p, sp, np] = [own, below ?? own, missing ?? below ?? own] as DmarcPolicy[];
  return { policy: lessen(p ?? 'none'), below: lessen(sp ?? 'none'), missing: lessen(np ?? 'none'), ...rest };
}

/** Reads tags leniently: the first of each name counts and malformed ones are skipped, so that a typo does not disable the policy. Linear. */
export function readLoosely(text: string): ReadonlyMap<string, string> {
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
