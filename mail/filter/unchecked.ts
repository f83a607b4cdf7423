import { UNAVAILABLE_AUTHENTICATION } from '../auth/authenticate.ts';
import { JUNK_THRESHOLD } from '../policy/finding.ts';
import type { InboundMail, FilterResult } from './mail-filter.ts';

const WHY = 'The checks of this message did not complete, so nothing is known about it';

/**
 * Creates the result for a message whose checks loop or run out of memory. It is stored, since that is a defect of the
 * checks, and in Junk, since a spammer must not evade the checks that way. It has no accounts, so it is never forwarded.
 */
export function uncheckedResult({ checks }: Pick<InboundMail, 'checks'>): FilterResult {
  return {
    authentication: UNAVAILABLE_AUTHENTICATION,
    author: { kind: 'pass', why: '' },
    findings: checks ? [{ rule: 'unchecked', score: JUNK_THRESHOLD, why: WHY, flag: 'unchecked' }] : [],
    senders: [],
    accounts: [],
  };
}
