import type { Authentication } from '../auth/authentication.ts';

/** Why a copy may not leave: it never may, or that cannot be known now. */
export interface Staying {
  kind: 'unproven' | 'trouble';
  why: string;
}

/**
 * Whether a message of which this is known may leave by a forward of `domain`. What its author's domain wants refused is
 * not sent on; and what claims to come from the forwarding organization itself and cannot show it would get from us, by
 * our signature and our envelope sender, the proof that it lacks (RFC 9989 4.4).
 */
export function mayLeave({ dmarc }: Authentication, domain: string): Staying | undefined {
  switch (dmarc.result) {
    case 'pass':
      return undefined;
    case 'temperror':
      return { kind: 'trouble', why: 'who wrote it could not be checked at the moment' };
    case 'permerror':
      return { kind: 'unproven', why: 'it does not have one author whose domain could be asked' };
    case 'none':
    case 'fail': {
      if (isSameOrganization(dmarc, domain))
        return { kind: 'unproven', why: `it names an author at ${dmarc.domain} and cannot show it` };
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
