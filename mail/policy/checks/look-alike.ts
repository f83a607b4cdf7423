import { BRANDS } from '../alike/brands.ts';
import { KnownNames } from '../alike/known-names.ts';
import { type Alike, lookAlike } from '../alike/look-alike.ts';
import { mixesScripts } from '../alike/skeleton.ts';
import { type Finding, plainWord } from '../finding.ts';
import { domainOf } from '../registrable.ts';
import type { Sample } from '../sample.ts';
import { hasFailed, isUnproven } from '../vouched.ts';
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
const BRAND_NAMES = new KnownNames(BRANDS.map(({ domain }) => domain));

/**
 * An author, or who gets the answer, whose domain passes for one that the recipient knows. In the name of its own
 * organization, and without proof, it is fraud.
 */
export function lookAlikeAuthor(sample: Sample, { own, written }: Familiar): readonly Finding[] {
  // Whom somebody writes to is nobody else, however near the names are.
  const known = new KnownNames([...own, ...written]);
  const domains = new Set([sample.author, ...namedIn(sample.fields, 'reply-to').map(({ address }) => address)]);
  for (const domain of [...domains].map(domainOf).filter((one) => one !== '')) {
    const alike = lookAlike(domain, known);
    if (alike === undefined) continue;
    const ours = own.includes(alike.of);
    const score = (ours ? OWN_SCORE : WRITTEN_SCORE)[alike.how];
    if (score === 0) continue;
    return [found('look-alike-author', score, domain, alike, ours && CLEAR.has(alike.how) && hasFailed(sample))];
  }
  return [];
}

/** Ways that nobody takes by chance. */
const CLEAR: ReadonlySet<Alike['how']> = new Set(['letters', 'typo', 'inside']);
const OWN_SCORE = { letters: 3, typo: 3, inside: 3, added: 1, below: 0.5 };
const WRITTEN_SCORE = { letters: 2.5, typo: 2, inside: 2.5, added: 0.5, below: 0 };
const BRAND_SCORE = { letters: 3, typo: 2, inside: 2.5, added: 1.5, below: 1 };

/** A domain that passes for one that thieves of passwords like, as author or in a link. */
export function lookAlikeBrand(sample: Sample): readonly Finding[] {
  const author = domainOf(sample.author);
  const findings: Finding[] = [];
  const alike = author === '' ? undefined : lookAlike(author, BRAND_NAMES);
  if (alike !== undefined) findings.push(found('look-alike-brand', BRAND_SCORE[alike.how], author, alike));
  for (const host of hostsOf(sample.links, MOST_HOSTS)) {
    const linked = lookAlike(host, BRAND_NAMES);
    if (linked === undefined) continue;
    findings.push(found('look-alike-link', BRAND_SCORE[linked.how] - 0.5, host, linked));
    break;
  }
  return findings;
}

/** A domain that belongs to the recipient's organization in From, with nothing that vouches for it. */
export function ownDomain(sample: Sample, { own }: Familiar): readonly Finding[] {
  const domain = domainOf(sample.author);
  if (!own.includes(domain) || !isUnproven(sample)) return [];
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
    ...(CLEAR.has(how) && { flag: 'look-alike-domain' }),
    ...(refuse && { refuse }),
  };
}

const HOW: Readonly<Record<Alike['how'], string>> = {
  letters: 'looks like',
  typo: 'is a letter away from',
  inside: 'puts in front the name of',
  below: 'puts in front the name of',
  added: 'adds a word to the name of',
};
