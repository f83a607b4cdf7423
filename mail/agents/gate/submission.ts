import { createHash } from 'node:crypto';
import { requireIndex } from '../../message/index-types.ts';
import type { Read, Stamp, Write } from '../../store/engine/types.ts';
import { awaitApproval, hasTooManyPending, MAX_PENDING_APPROVALS } from '../approval/approval.ts';
import { recordInternalRecipients } from '../freeze/redirected.ts';
import { recordDecision } from './decision-log.ts';
import { checkAgentMail, type PassedAgentMail } from './gate.ts';
import type { AgentMail } from './gate-input.ts';
import { countLifetime } from './life-limits.ts';
import type { AgentSending, AgentStop } from './types.ts';

/** Decides about mail of an agent inside the commit that accepts it, so that its facts cannot change in between. */
export async function beforeSubmit(
  rx: Read,
  mail: AgentMail,
  agent: AgentSending,
  now: number,
): Promise<AgentStop | PassedAgentMail> {
  const check = await checkAgentMail(rx, mail, agent, now);
  if (check.kind === 'passed' && check.reasons.length > 0 && (await hasTooManyPending(rx, mail)))
    return TOO_MANY_PENDING;
  return check;
}

/** Counts and records mail of an agent in the commit that accepts it, before its recipients are counted anywhere else. */
export async function onSubmit(tx: Write, passed: PassedAgentMail, stamp: Stamp): Promise<void> {
  await recordDecision(tx, passed, stamp);
  const { limits } = passed.mail.agent;
  if (limits !== null) await countLifetime(tx, limits.sends);
}

/**
 * Records an agent's mail that waits, and requests approval if there are reasons; the approval is bound to the octets that
 * leave and to all recipients.
 */
export async function onWait(
  tx: Write,
  { mail: { mail, agent, context }, reasons }: PassedAgentMail,
  submission: number,
  stamp: Stamp,
): Promise<void> {
  await recordInternalRecipients(tx, submission, mail, context);
  if (reasons.length === 0) return;
  const { trace, tenant, account, sender, recipients, sendAt } = mail;
  const { credential } = agent;
  const sha256 = mail.sha256 ?? (mail.data && createHash('sha256').update(mail.data).digest('hex'));
  if (sha256 === null) throw new Error('mail in a file needs its sha256, which the approval is bound to');
  const held = { submission, tenant, account, trace, credential, sender, recipients, sendAt, reasons, sha256 };
  await awaitApproval(tx, { ...held, index: requireIndex(mail.index) }, stamp);
}

const TOO_MANY_PENDING: AgentStop = {
  kind: 'agent-stop',
  error: 'budget_exceeded',
  reasons: [
    {
      code: 'too_many_pending',
      text: 'Too many messages of this mailbox await approval: wait for a decision, or withdraw some',
    },
  ],
  budget: { name: 'too_many_pending', limit: MAX_PENDING_APPROVALS, used: MAX_PENDING_APPROVALS },
};
