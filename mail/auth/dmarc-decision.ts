import type { Authentication } from './authentication.ts';

/** What a tenant wants done with mail that fails the policy of its author's domain. */
export type DmarcHandling =
  /** What the domain asks for. */
  | 'follow'
  | 'junk'
  /** Delivered, and told to who reads it. */
  | 'mark';

/** What DMARC says about a message that came from outside. `why` is a sentence for people without its full stop. */
export interface DmarcDecision {
  kind: 'pass' | 'mark' | 'junk' | 'refuse' | 'later';
  why: string;
  /** For `refuse` and `later`: what the peer is answered. RFC 7372 3.1, RFC 3463. */
  status?: '5.6.0' | '5.7.1' | '4.7.0';
}

export interface DmarcPolicies {
  handling: DmarcHandling;
  /** {@link trustedSealer} of the message. */
  sealer: string | undefined;
}

/**
 * What to do with a message, by DMARC alone. RFC 9989 5.3, 5.4; a chain that passes and was sealed last by somebody
 * trusted speaks for a message that fails (RFC 8617 7.2). The DNS being down speaks against nobody, unless it alone could
 * have told a forgery: then the peer is asked to come again.
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
      return result === 'fail' ? failed(domain, policy, handling) : unsure(domain, policy, handling);
  }
}

function failed(domain: string, policy: Authentication['dmarc']['policy'], handling: DmarcHandling): DmarcDecision {
  const why = `It says that it is from ${domain}, which does not vouch for it`;
  if (policy === 'none' || handling === 'mark') return { kind: 'mark', why };
  if (handling === 'junk' || policy === 'quarantine') return { kind: 'junk', why: `${why} and asks to distrust it` };
  return { kind: 'refuse', why: `${why} and asks to refuse it`, status: '5.7.1' };
}

function unsure(domain: string, policy: Authentication['dmarc']['policy'], handling: DmarcHandling): DmarcDecision {
  const why = `The DNS did not tell whether it is really from ${domain === '' ? 'its author' : domain}`;
  // Only where a message that fails would be kept out of the inbox.
  if (policy === 'none' || handling === 'mark') return { kind: 'mark', why };
  return { kind: 'later', why: `${why}, which asks for protection`, status: '4.7.0' };
}

/**
 * Who sealed the chain last, where that is somebody trusted who saw the message pass. `trusted`: domains that are believed
 * when they say that a message passed before they changed it, in lower case.
 */
export function trustedSealer({ arc, sealer }: Authentication, trusted: readonly string[]): string | undefined {
  if (arc !== 'pass' || sealer === undefined || !trusted.includes(sealer.domain)) return undefined;
  const { dmarc, spf, dkim } = sealer;
  // Without DMARC in its results: what it would have been made of.
  const passed = dmarc === 'pass' || (dmarc === '' && (dkim === 'pass' || spf === 'pass'));
  return passed ? sealer.domain : undefined;
}

/** The same, where it saw the author proved: without DMARC its results may be about somebody else than the author. */
export function vouchingSealer(found: Authentication, trusted: readonly string[]): string | undefined {
  return found.sealer?.dmarc === 'pass' ? trustedSealer(found, trusted) : undefined;
}
