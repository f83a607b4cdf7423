import { domainOf } from './registrable.ts';
import type { Sample } from './sample.ts';

type AuthorProof = Pick<Sample, 'author' | 'authentication' | 'sealer'>;

/** Returns the authenticated domain of the author, or '' if From is only a claim. */
export function authenticatedDomain({ author, authentication: { dmarc } }: AuthorProof): string {
  const domain = domainOf(author);
  return author !== '' && dmarc.aligned && dmarc.domain === domain ? domain : '';
}

/**
 * True if authentication ran and the author is not authenticated. DNS errors that could have hidden a pass do not count;
 * other DNS errors do, or a sender with silent name servers would evade the checks. A trusted ARC sealer may have seen a pass
 * before it changed the message.
 */
export function isUnauthenticated(sample: AuthorProof): boolean {
  const { dmarc, spf, iprev } = sample.authentication;
  const wasChecked = iprev.result !== 'none' || spf.result !== 'none';
  return wasChecked && dmarc.unsure !== true && sample.sealer === undefined && authenticatedDomain(sample) === '';
}

/** True if authentication of the author failed, as opposed to not being set up. */
export function failsAuthentication(sample: AuthorProof): boolean {
  const { dmarc, dkim, spf } = sample.authentication;
  if (!isUnauthenticated(sample)) return false;
  if (dmarc.result === 'fail' || spf.result === 'fail') return true;
  // Mailing lists break signatures, and send from their own servers.
  return spf.result !== 'pass' && dkim.length > 0 && dkim.every(({ result }) => result === 'fail');
}
