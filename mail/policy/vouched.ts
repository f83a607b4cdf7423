import { domainOf } from './registrable.ts';
import type { Sample } from './sample.ts';

type Proved = Pick<Sample, 'author' | 'authentication' | 'sealer'>;

/** The authenticated domain that stands for the one author, or '' when nothing vouches for it: then From is only a claim. */
export function vouchedDomain({ author, authentication: { dmarc } }: Proved): string {
  const domain = domainOf(author);
  return author !== '' && dmarc.aligned && dmarc.domain === domain ? domain : '';
}

/**
 * Whether it was asked and answered that nothing vouches for the author: trouble of the DNS speaks against nobody. But
 * only trouble that could have hidden a proof: a sender whose own name servers are silent would silence the checks. Who
 * is trusted may have seen the proof before it broke it.
 */
export function isUnproven(sample: Proved): boolean {
  const { dmarc, spf, iprev } = sample.authentication;
  const asked = iprev.result !== 'none' || spf.result !== 'none';
  return asked && dmarc.unsure !== true && sample.sealer === undefined && vouchedDomain(sample) === '';
}

/** Whether what should vouch for the author says no: more than that there is nothing that could. */
export function hasFailed(sample: Proved): boolean {
  const { dmarc, dkim, spf } = sample.authentication;
  if (!isUnproven(sample)) return false;
  if (dmarc.result === 'fail' || spf.result === 'fail') return true;
  // Mailing lists break signatures, and come from their own servers.
  return spf.result !== 'pass' && dkim.length > 0 && dkim.every(({ result }) => result === 'fail');
}
