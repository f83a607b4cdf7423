import type { Authentication } from '../auth/authentication.ts';

/** The reason not to forward: permanent (`unproven`) or temporary (`trouble`). */
export interface ForwardRefusal {
  kind: 'unproven' | 'trouble';
  why: string;
}

/**
 * Checks whether an address of `domain` can forward a message. Not if its author's domain asks to reject it; nor if it
 * claims, unauthenticated, to come from the forwarding organization: our DKIM signature and envelope sender would make it
 * pass DMARC (RFC 9989 4.4).
 */
export function checkForwardDmarc({ dmarc }: Authentication, domain: string): ForwardRefusal | undefined {
  switch (dmarc.result) {
    case 'pass':
      return undefined;
    case 'temperror':
      return { kind: 'trouble', why: 'DMARC could not be checked (temporary DNS failure)' };
    case 'permerror':
      return { kind: 'unproven', why: 'it does not have exactly one author domain to check DMARC' };
    case 'none':
    case 'fail': {
      if (isSameOrganization(dmarc, domain))
        return { kind: 'unproven', why: `it claims to be from ${dmarc.domain} but fails DMARC` };
      const refused = dmarc.result === 'fail' && dmarc.policy === 'reject';
      return refused
        ? { kind: 'unproven', why: `it fails the DMARC policy of ${dmarc.domain}, which asks to reject it` }
        : undefined;
    }
  }
}

function isSameOrganization({ domain: author, organization }: Authentication['dmarc'], domain: string): boolean {
  return isWithin(domain, author) || isWithin(author, domain) || isWithin(domain, organization);
}

function isWithin(domain: string, parent: string): boolean {
  return parent !== '' && (domain === parent || domain.endsWith(`.${parent}`));
}
