import { BRANDS } from '../look-alike/brands.ts';
import { KnownNames } from '../look-alike/known-names.ts';
import { type LookAlike, findLookAlike } from '../look-alike/look-alike.ts';
import { mixesScripts } from '../look-alike/skeleton.ts';
import { type Finding, sanitizeWord } from '../finding.ts';
import { domainOf } from '../registrable.ts';
import type { Sample } from '../sample.ts';
import { failsAuthentication, isUnauthenticated } from '../author-proof.ts';
import { readAddressField } from './address-field.ts';
import { linkHosts } from './hosts.ts';

/** Domains that a recipient recognizes. */
export interface KnownDomains {
  /** Domains of its organization. */
  own: readonly string[];
  /** Domains that it writes to. */
  written: readonly string[];
}

const MAX_HOSTS = 30;
const BRAND_NAMES = new KnownNames(BRANDS.map(({ domain }) => domain));

/**
 * Finds authors and Reply-To addresses whose domain imitates one that the recipient knows. An imitation of its own
 * organization with failed authentication is fraud and is rejected.
 */
export function checkLookAlikeAuthor(sample: Sample, { own, written }: KnownDomains): readonly Finding[] {
  // A domain that the account writes to imitates nothing, however similar it is.
  const known = new KnownNames([...own, ...written]);
  const domains = new Set([
    sample.author,
    ...readAddressField(sample.fields, 'reply-to').map(({ address }) => address),
  ]);
  for (const domain of [...domains].map(domainOf).filter((one) => one !== '')) {
    const alike = findLookAlike(domain, known);
    if (alike === undefined) continue;
    const isOwn = own.includes(alike.imitated);
    const score = (isOwn ? OWN_SCORE : WRITTEN_SCORE)[alike.technique];
    if (score === 0) continue;
    return [
      toFinding(
        'look-alike-author',
        score,
        domain,
        alike,
        isOwn && DELIBERATE.has(alike.technique) && failsAuthentication(sample),
      ),
    ];
  }
  return [];
}

/** Techniques that do not happen by chance. */
const DELIBERATE: ReadonlySet<LookAlike['technique']> = new Set(['letters', 'typo', 'inside']);
const OWN_SCORE = { letters: 3, typo: 3, inside: 3, added: 1, below: 0.5 };
const WRITTEN_SCORE = { letters: 2.5, typo: 2, inside: 2.5, added: 0.5, below: 0 };
const BRAND_SCORE = { letters: 3, typo: 2, inside: 2.5, added: 1.5, below: 1 };

/** Finds imitations of well-known brands in the author and in links. */
export function checkLookAlikeBrand(sample: Sample): readonly Finding[] {
  const author = domainOf(sample.author);
  const findings: Finding[] = [];
  const alike = author === '' ? undefined : findLookAlike(author, BRAND_NAMES);
  if (alike !== undefined) findings.push(toFinding('look-alike-brand', BRAND_SCORE[alike.technique], author, alike));
  for (const host of linkHosts(sample.links, MAX_HOSTS)) {
    const linked = findLookAlike(host, BRAND_NAMES);
    if (linked === undefined) continue;
    findings.push(toFinding('look-alike-link', BRAND_SCORE[linked.technique] - 0.5, host, linked));
    break;
  }
  return findings;
}

/** Finds From addresses in the recipient's own organization without authentication. */
export function checkOwnDomain(sample: Sample, { own }: KnownDomains): readonly Finding[] {
  const domain = domainOf(sample.author);
  if (!own.includes(domain) || !isUnauthenticated(sample)) return [];
  const why = `Its author claims to be at ${sanitizeWord(domain)}, but the message is not authenticated`;
  return [{ rule: 'own-domain', score: 3, why, flag: 'spoofed-sender' }];
}

/** Finds names that mix look-alike letters of several scripts. */
export function checkMixedScripts(sample: Sample): readonly Finding[] {
  const hosts = [domainOf(sample.author), ...linkHosts(sample.links, MAX_HOSTS)];
  const mixed = hosts.find(mixesScripts);
  if (mixed === undefined) return [];
  const why = `The name ${sanitizeWord(mixed)} mixes look-alike letters of several scripts`;
  return [{ rule: 'mixed-scripts', score: 2, why, flag: 'look-alike-domain' }];
}

function toFinding(
  rule: string,
  score: number,
  domain: string,
  { imitated: of, technique: how }: LookAlike,
  refuse = false,
): Finding {
  return {
    rule,
    score,
    why: `${sanitizeWord(domain)} ${TECHNIQUE_TEXT[how]} ${sanitizeWord(of)} but is a different domain`,
    ...(DELIBERATE.has(how) && { flag: 'look-alike-domain' }),
    ...(refuse && { refuse }),
  };
}

const TECHNIQUE_TEXT: Readonly<Record<LookAlike['technique'], string>> = {
  letters: 'looks like',
  typo: 'is a misspelling of',
  inside: 'begins with the name of',
  below: 'begins with the name of',
  added: 'adds a word to the name of',
};
