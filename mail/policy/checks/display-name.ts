import { shownAddresses } from '../../message/shown-name.ts';
import { BRANDS } from '../look-alike/brands.ts';
import { skeleton } from '../look-alike/skeleton.ts';
import { type Finding, sanitizeWord } from '../finding.ts';
import { isFreeMailProvider } from '../free-mail.ts';
import { domainOf, hasSameOwner } from '../registrable.ts';
import type { Sample } from '../sample.ts';
import { isUnauthenticated } from '../author-proof.ts';
import { readAddressField } from './address-field.ts';

const MAX_NAME = 200;
const BRAND_NAMES = BRANDS.filter(({ name }) => name !== '').map(({ name, domain }) => ({
  name,
  domain,
  words: name.split(' ').map(skeleton),
}));

/** Finds display names that contradict the address: most mail programs show only the name. */
export function checkDisplayName(sample: Sample): readonly Finding[] {
  const [from] = readAddressField(sample.fields, 'from');
  if (from === undefined || from.name === '') return [];
  const domain = domainOf(sample.author);
  const shown = from.name.normalize('NFKC').slice(0, MAX_NAME);
  return [
    ...findOtherAddress(from.name.slice(0, MAX_NAME), domain),
    ...findBorrowedName(shown, domain, isUnauthenticated(sample)),
  ];
}

function findOtherAddress(name: string, domain: string): Finding[] {
  for (const word of shownAddresses(name)) {
    const named = word.slice(word.lastIndexOf('@') + 1).toLowerCase();
    if (!/^[^\s@.]+(?:\.[^\s@.]+)+$/u.test(named) || hasSameOwner(named, domain)) continue;
    const why = `The display name of its author is an address at ${sanitizeWord(named)}, but it is from ${sanitizeWord(domain)}`;
    return [{ rule: 'name-is-address', score: 2.5, why, flag: 'phishing' }];
  }
  return [];
}

function findBorrowedName(shown: string, domain: string, unproven: boolean): Finding[] {
  const words = shown.split(/[^\p{L}\p{N}$|]+/u).map(skeleton);
  const brand = BRAND_NAMES.find((one) => one.words.every((word) => words.includes(word)));
  // Branches and partners have the name in their domain; look-alikes are found by another check.
  if (brand === undefined || skeleton(domain).includes(brand.words.join(''))) return [];
  const doubtful = unproven || isFreeMailProvider(domain);
  const why = `Its author uses the name of ${brand.domain} but writes from ${domain === '' ? 'no address' : sanitizeWord(domain)}`;
  return [{ rule: 'borrowed-name', score: doubtful ? 2 : 1, why, flag: 'phishing' }];
}
