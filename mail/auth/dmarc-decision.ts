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

/**
 * What to do with a message, by DMARC alone and as its author's domain asks. RFC 9989 5.3, 5.4. A chain that passes and
 * was sealed last by one of `trustedSealers`, domains in lower case, speaks for a message that fails (RFC 8617 7.2). The
 * DNS being down speaks against nobody, unless it alone could have told a forgery: then the peer is to come again.
 */
export function decideDmarc(found: Authentication, trustedSealers: readonly string[]): DmarcDecision {
  const { result, policy, domain } = found.dmarc;
  switch (result) {
    case 'pass':
      return { kind: 'pass', why: `It is from ${domain}, which vouches for it` };
    case 'none':
      return { kind: 'pass', why: `${domain === '' ? 'Its author' : domain} asks for nothing` };
    case 'permerror':
      return {
        kind: 'refuse',
        why: `It has ${found.dmarc.why ?? 'no one author'}, where one author is wanted`,
        status: '5.6.0',
      };
    case 'temperror':
    case 'fail': {
      const sealer = trustedSealer(found, trustedSealers);
      if (sealer !== undefined) return { kind: 'pass', why: `${sealer}, which is trusted, received it from ${domain}` };
      return result === 'fail' ? failed(domain, policy) : unsure(domain, policy);
    }
  }
}

function failed(domain: string, policy: Authentication['dmarc']['policy']): DmarcDecision {
  const why = `It says that it is from ${domain}, which does not vouch for it`;
  if (policy === 'none') return { kind: 'mark', why };
  if (policy === 'quarantine') return { kind: 'junk', why: `${why} and asks to distrust it` };
  return { kind: 'refuse', why: `${why} and asks to refuse it`, status: '5.7.1' };
}

function unsure(domain: string, policy: Authentication['dmarc']['policy']): DmarcDecision {
  const why = `The DNS did not tell whether it is really from ${domain === '' ? 'its author' : domain}`;
  if (policy === 'none') return { kind: 'mark', why };
  return { kind: 'later', why: `${why}, which asks for protection`, status: '4.7.0' };
}

/** The decision as a tenant wants it, which has no say where a message does not have one author. */
export function withHandling(decision: DmarcDecision, handling: DmarcHandling): DmarcDecision {
  const { kind, why, status } = decision;
  if (handling === 'follow' || status === '5.6.0') return decision;
  if (kind === 'refuse' || kind === 'junk') return { kind: handling, why };
  // To wait for the DNS helps only who would keep the message out of the inbox.
  return kind === 'later' && handling === 'mark' ? { kind: 'mark', why } : decision;
}

/** Who sealed the chain last, where that is somebody trusted who saw the message pass. */
function trustedSealer({ arc, sealer }: Authentication, trusted: readonly string[]): string | undefined {
  if (arc !== 'pass' || sealer === undefined || !trusted.includes(sealer.domain)) return undefined;
  const { dmarc, spf, dkim } = sealer;
  // Without DMARC in its results: what it would have been made of.
  const passed = dmarc === 'pass' || (dmarc === '' && (dkim === 'pass' || spf === 'pass'));
  return passed ? sealer.domain : undefined;
}
