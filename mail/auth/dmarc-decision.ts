import type { Authentication } from './authentication.ts';

/** Handling of mail that fails DMARC, chosen by the tenant. */
export type DmarcHandling =
  /** Applies the policy of the author's domain. */
  | 'follow'
  | 'junk'
  /** Delivers to the inbox with a warning for the reader. */
  | 'mark';

/** DMARC disposition of an inbound message. `why` is a sentence for people, without the full stop. */
export interface DmarcDecision {
  kind: 'pass' | 'mark' | 'junk' | 'refuse' | 'later';
  why: string;
  /** Enhanced status code of the reply, for `refuse` and `later`. RFC 7372 3.1, RFC 3463. */
  status?: '5.6.0' | '5.7.1' | '4.7.0';
}

export interface DmarcPolicies {
  handling: DmarcHandling;
  /** Result of {@link trustedSealer}. */
  sealer: string | undefined;
}

/**
 * Decides the disposition of a message by DMARC alone. RFC 9989 5.3, 5.4. A passing ARC chain from a trusted sealer
 * overrides a DMARC failure (RFC 8617 7.2). A DNS failure defers the message only if the domain's policy would keep a
 * forgery out of the inbox.
 */
export function decideDmarc(found: Authentication, { handling, sealer }: DmarcPolicies): DmarcDecision {
  const { result, policy, domain } = found.dmarc;
  switch (result) {
    case 'pass':
      return { kind: 'pass', why: `It is from ${domain}, which vouches for it` };
    case 'permerror':
      return {
        kind: 'refuse',
        why: `It has ${found.dmarc.why ?? 'no one author'}, where one author is wanted`,
        status: '5.6.0',
      };
    case 'none':
      return { kind: 'pass', why: `${domain === '' ? 'Its author' : domain} asks for nothing` };
    case 'temperror':
    case 'fail':
      if (sealer !== undefined) return { kind: 'pass', why: `${sealer}, which is trusted, received it from ${domain}` };
      return result === 'fail' ? decideFailed(domain, policy, handling) : decideUncertain(domain, policy, handling);
  }
}

function decideFailed(
  domain: string,
  policy: Authentication['dmarc']['policy'],
  handling: DmarcHandling,
): DmarcDecision {
  const why = `It says that it is from ${domain}, which does not vouch for it`;
  if (policy === 'none' || handling === 'mark') return { kind: 'mark', why };
  if (handling === 'junk' || policy === 'quarantine') return { kind: 'junk', why: `${why} and asks to distrust it` };
  return { kind: 'refuse', why: `${why} and asks to refuse it`, status: '5.7.1' };
}

function decideUncertain(
  domain: string,
  policy: Authentication['dmarc']['policy'],
  handling: DmarcHandling,
): DmarcDecision {
  const why = `The DNS did not tell whether it is really from ${domain === '' ? 'its author' : domain}`;
  // Defers only if the policy would keep a failing message out of the inbox.
  if (policy === 'none' || handling === 'mark') return { kind: 'mark', why };
  return { kind: 'later', why: `${why}, which asks for protection`, status: '4.7.0' };
}

/**
 * Returns the domain of the last sealer if it is trusted and saw the message pass. `trusted`: sealer domains whose
 * results are accepted, in lower case.
 */
export function trustedSealer({ arc, sealer }: Authentication, trusted: readonly string[]): string | undefined {
  if (arc !== 'pass' || sealer === undefined || !trusted.includes(sealer.domain)) return undefined;
  const { dmarc, spf, dkim } = sealer;
  // Without a DMARC result, SPF or DKIM must have passed.
  const passed = dmarc === 'pass' || (dmarc === '' && (dkim === 'pass' || spf === 'pass'));
  return passed ? sealer.domain : undefined;
}

/** Like {@link trustedSealer}, but requires a DMARC pass: SPF or DKIM alone may not align with the author. */
export function vouchingSealer(found: Authentication, trusted: readonly string[]): string | undefined {
  return found.sealer?.dmarc === 'pass' ? trustedSealer(found, trusted) : undefined;
}
