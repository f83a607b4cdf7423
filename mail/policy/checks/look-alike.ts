import { BRANDS } from '../alike/brands.ts';
import { type Alike, lookAlike } from '../alike/look-alike.ts';
import { mixesScripts } from '../alike/skeleton.ts';
import { type Finding, plainWord } from '../finding.ts';
import { domainOf } from '../registrable.ts';
import type { Sample } from '../sample.ts';
import { hasFailed, vouchedDomain } from '../vouched.ts';
import { namedIn } from './authors.ts';
import { hostsOf } from './hosts.ts';

/** Domains that a recipient knows by sight. */
export interface Familiar {
  /** Of its organization. */
  own: readonly string[];
  /** That it writes to. */
  written: readonly string[];
}

const MOST_HOSTS = 30;
const BRAND_DOMAINS = BRANDS.map(({ domain }) => domain);

/**
 * An author, or who gets the answer, whose domain passes for one that the recipient knows. In the name of its own
 * organization, and without proof, it is fraud.
 */
export function lookAlikeAuthor(sample: Sample, { own, written }: Familiar): readonly Finding[] {
  const domains = new Set([sample.author, ...namedIn(sample.fields, 'reply-to').map(({ address }) => address)]);
  for (const domain of [...domains].map(domainOf).filter((one) => one !== '')) {
    // Whom somebody writes to is nobody else, however near the names are.
    const known = [...own, ...written];
    const alike = lookAlike(domain, known);
    if (alike === undefined) continue;
    const ours = own.includes(alike.of);
    const refuse = ours && CLEAR.has(alike.how) && hasFailed(sample);
    return [found('look-alike-author', ours ? 3 : 2.5, domain, alike, refuse)];
  }
  return [];
}

const CLEAR: ReadonlySet<Alike['how']> = new Set(['letters', 'typo', 'inside']);
const BRAND_SCORE = { letters: 3, typo: 2, inside: 2.5, added: 1.5 };

/** A domain that passes for one that thieves of passwords like, as author or in a link. */
export function lookAlikeBrand(sample: Sample): readonly Finding[] {
  const author = domainOf(sample.author);
  const findings: Finding[] = [];
  const alike = author === '' ? undefined : lookAlike(author, BRAND_DOMAINS);
  if (alike !== undefined) findings.push(found('look-alike-brand', BRAND_SCORE[alike.how], author, alike));
  for (const host of hostsOf(sample.links, MOST_HOSTS)) {
    const linked = lookAlike(host, BRAND_DOMAINS);
    if (linked === undefined) continue;
    findings.push(found('look-alike-link', BRAND_SCORE[linked.how] - 0.5, host, linked));
    break;
  }
  return findings;
}

/** A domain that belongs to the recipient's organization in From, with nothing that vouches for it. */
export function ownDomain(sample: Sample, { own }: Familiar): readonly Finding[] {
  const domain = domainOf(sample.author);
  if (!own.includes(domain) || vouchedDomain(sample) !== '') return [];
  const why = `It names an author at ${plainWord(domain)}, and nothing shows that it comes from there`;
  return [{ rule: 'own-domain', score: 3, why, flag: 'spoofed-sender' }];
}

/** Letters of several scripts in one word of a name: nobody writes so, and it hides which name it is. */
export function mixedScripts(sample: Sample): readonly Finding[] {
  const hosts = [domainOf(sample.author), ...hostsOf(sample.links, MOST_HOSTS)];
  const mixed = hosts.find(mixesScripts);
  if (mixed === undefined) return [];
  const why = `The name ${plainWord(mixed)} mixes letters of several scripts that look alike`;
  return [{ rule: 'mixed-scripts', score: 2, why, flag: 'look-alike-domain' }];
}

function found(rule: string, score: number, domain: string, { of, how }: Alike, refuse = false): Finding {
  return {
    rule,
    score,
    why: `${plainWord(domain)} ${HOW[how]} ${plainWord(of)} and is another domain`,
    flag: 'look-alike-domain',
    ...(refuse && { refuse }),
  };
}

const HOW: Readonly<Record<Alike['how'], string>> = {
  letters: 'looks like',
  typo: 'is a letter away from',
  inside: 'puts in front the name of',
  added: 'adds a word to the name of',
};
