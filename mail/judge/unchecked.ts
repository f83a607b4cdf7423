import { UNKNOWN } from '../auth/authenticate.ts';
import { JUNK_FROM } from '../policy/finding.ts';
import type { Arriving, Judgement } from './judging.ts';

const WHY = 'Its checks did not come to an end, so nothing is known about it';

/**
 * What is said of a message whose checks do not end, or take all memory. It is kept, for that is a defect of ours, and in Junk: whoever finds
 * such a defect must not get past the checks by it. It is for nobody else, so a forward to elsewhere alone refuses it.
 */
export function unchecked({ checks }: Pick<Arriving, 'checks'>): Judgement {
  return {
    authentication: UNKNOWN,
    author: { kind: 'pass', why: '' },
    findings: checks ? [{ rule: 'unchecked', score: JUNK_FROM, why: WHY, flag: 'unchecked' }] : [],
    senders: [],
    accounts: [],
  };
}
