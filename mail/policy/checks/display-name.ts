import { BRANDS } from '../alike/brands.ts';
import { skeleton } from '../alike/skeleton.ts';
import { type Finding, plainWord } from '../finding.ts';
import { isFreeMail } from '../free-mail.ts';
import { domainOf, sameOwner } from '../registrable.ts';
import type { Sample } from '../sample.ts';
import { isUnproven } from '../vouched.ts';
import { namedIn } from './authors.ts';

const MOST_NAME = 200;
const NAMES = BRANDS.filter(({ name }) => name !== '').map(({ name, domain }) => ({
  name,
  domain,
  words: name.split(' ').map(skeleton),
}));

/** What the name in From says against the address that it stands for: most programs show nothing but the name. */
export function displayName(sample: Sample): readonly Finding[] {
  const [from] = namedIn(sample.fields, 'from');
  if (from === undefined || from.name === '') return [];
  const domain = domainOf(sample.author);
  const shown = from.name.normalize('NFKC').slice(0, MOST_NAME);
  return [...otherAddress(shown, domain), ...borrowedName(shown, domain, isUnproven(sample))];
}

function otherAddress(shown: string, domain: string): Finding[] {
  for (const word of shown.split(/[\s<>()[\],:;'"]+/)) {
    const at = word.lastIndexOf('@');
    const named = word.slice(at + 1).toLowerCase();
    if (at <= 0 || !/^[^\s@.]+(?:\.[^\s@.]+)+$/u.test(named) || sameOwner(named, domain)) continue;
    const why = `The name of its author is an address at ${plainWord(named)}, and it is from ${plainWord(domain)}`;
    return [{ rule: 'name-is-address', score: 2.5, why, flag: 'phishing' }];
  }
  return [];
}

function borrowedName(shown: string, domain: string, unproven: boolean): Finding[] {
  const words = shown.split(/[^\p{L}\p{N}$|]+/u).map(skeleton);
  const brand = NAMES.find((one) => one.words.every((word) => words.includes(word)));
  // A branch of it, or one who works for it, has the name in the domain; a look-alike is found elsewhere.
  if (brand === undefined || skeleton(domain).includes(brand.words.join(''))) return [];
  const doubtful = unproven || isFreeMail(domain);
  const why = `Its author is called like ${brand.domain} and writes from ${domain === '' ? 'no address' : plainWord(domain)}`;
  return [{ rule: 'borrowed-name', score: doubtful ? 2 : 1, why, flag: 'phishing' }];
}
