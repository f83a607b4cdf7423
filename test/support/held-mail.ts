import { DEFAULT_POLICY } from '../../mail/delivery/agent/types.ts';
import { submit, type Submission } from '../../mail/delivery/submit.ts';
import type { Verdict } from '../../mail/delivery/policy.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { freely, outgoing } from './submission.ts';

/** What a test's gate answers, which stands in for that of agents. */
export const REASONS = [{ code: 'first_seen_recipient', text: 'x@elsewhere.test was never written to' }];

/** A token sends. */
export const BY_AGENT: Verdict = {
  kind: 'agent',
  agent: {
    credential: 'tok_7',
    mode: 'normal',
    policy: DEFAULT_POLICY,
    governed: false,
    answers: null,
    forwards: false,
    secrets: [],
    attended: true,
    limits: null,
  },
};

let last = 0;

/** What an agent asks to send and a person has to let go, in a test whose gate holds everything. */
export async function holdMail(
  store: MailStore,
  over: Partial<Submission>,
  text = 'From: me@box.test\r\nTo: x@elsewhere.test\r\nSubject: Offer\r\n\r\nThe offer\r\n',
): Promise<{ id: number; trace: string }> {
  const trace = `held-${++last}`;
  const mail = outgoing(text, ['x@elsewhere.test'], { trace, ...over });
  const done = await store.write(submit, { ...freely(mail), verdict: BY_AGENT, ...over, trace });
  if (done.kind !== 'waits') throw new Error(`it was ${done.kind}`);
  return { id: done.submission, trace };
}
