import type { Submission } from '../../mail/delivery/submission.ts';
import type { PassedAgentMail } from '../../mail/agents/gate/gate.ts';
import { type AgentSending, DEFAULT_POLICY } from '../../mail/agents/gate/types.ts';
import { submit } from '../../mail/delivery/submission-commit.ts';
import type { SendVerdict } from '../../mail/agents/gate/sending-policy.ts';
import type { AgentMail } from '../../mail/agents/gate/gate-input.ts';
import type { Read } from '../../mail/store/engine/types.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { unlimitedSubmission, outgoing } from './submission.ts';

/** Hold reasons of the test gate, which replaces the agent gate. */
export const REASONS = [{ code: 'first_seen_recipient', text: 'x@elsewhere.test was never written to' }];

/** Replaces the agent gate: everything requires approval by a person. */
export function checkAgentMail(_rx: Read, mail: AgentMail, agent: AgentSending): Promise<PassedAgentMail> {
  const context = { recipients: [], thread: null, authors: [] };
  return Promise.resolve({ kind: 'passed', mail: { mail, agent, context, fresh: [], weight: 1 }, reasons: REASONS });
}

/** Verdict for mail sent by a token. */
export const BY_AGENT: SendVerdict = {
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

/** Submits mail of an agent that is held for approval; the test's gate must hold everything. */
export async function holdMail(
  store: MailStore,
  over: Partial<Submission>,
  text = 'From: me@box.test\r\nTo: x@elsewhere.test\r\nSubject: Offer\r\n\r\nThe offer\r\n',
): Promise<{ id: number; trace: string }> {
  const trace = `held-${++last}`;
  const mail = outgoing(text, ['x@elsewhere.test'], { trace, ...over });
  const done = await store.write(submit, { ...unlimitedSubmission(mail), verdict: BY_AGENT, ...over, trace });
  if (done.kind !== 'waits') throw new Error(`it was ${done.kind}`);
  return { id: done.submission, trace };
}
