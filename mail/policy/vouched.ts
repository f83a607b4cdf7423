import { domainOf, sameOwner } from './registrable.ts';
import type { Sample } from './sample.ts';

/** The authenticated domain that stands for the one author, or '' when nothing vouches for it: then From is only a claim. */
export function vouchedDomain({ author, authentication }: Pick<Sample, 'author' | 'authentication'>): string {
  const { dmarc, dkim, spf } = authentication;
  const domain = domainOf(author);
  if (author === '') return '';
  if (dmarc.result === 'pass') return dmarc.domain === domain ? domain : '';
  // Where no policy is published, alignment is what it would ask for.
  if (dmarc.result !== 'none') return '';
  const aligned = [spf, ...dkim].some((one) => one.result === 'pass' && sameOwner(one.domain, domain));
  return aligned ? domain : '';
}

/** Whether what should vouch for the author says no: more than that there is nothing that could. */
export function hasFailed(sample: Pick<Sample, 'author' | 'authentication'>): boolean {
  const { dmarc, dkim, spf } = sample.authentication;
  if (dmarc.result === 'fail') return true;
  if (vouchedDomain(sample) !== '') return false;
  return spf.result === 'fail' || (dkim.length > 0 && dkim.every(({ result }) => result === 'fail'));
}
