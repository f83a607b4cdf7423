import { recordAgentSend } from './send-log.ts';
import { countAllowance } from '../../store/limit/allowance.ts';
import type { Stamp, Write } from '../../store/engine/types.ts';
import { markContent } from '../taint/content.ts';
import { readBy, taintedSince } from '../taint/taint.ts';
import { readerOf, sendingOf } from './gate-input.ts';
import type { PassedAgentMail } from './gate.ts';

/** Messages read before, as stored with a decision. */
const MAX_READ_MAIL = 10;

/**
 * Counts an agent's message and records the decision, in the commit that accepts it. Must run before its recipients are
 * counted anywhere else: they are no new recipients afterwards.
 */
export async function recordDecision(
  tx: Write,
  { mail: { mail, agent, context, fresh, weight }, reasons }: PassedAgentMail,
  stamp: Stamp,
): Promise<void> {
  const { tenant, allowance } = mail;
  if (weight > 1) {
    const recipients = context.recipients.map(({ key }) => key);
    await countAllowance(tx, { tenant, allowance, recipients }, stamp);
  }
  if ((await taintedSince(tx, sendingOf(mail, agent), stamp.now)) !== undefined) {
    await markContent(tx, tenant, `trace/${mail.trace}`, stamp.now);
  }
  const accepted = mail.sendAt === null ? 'taken' : 'scheduled';
  await recordAgentSend(
    tx,
    {
      trace: mail.trace,
      tenant,
      account: mail.account,
      reader: readerOf(agent),
      credential: agent.credential,
      outcome: reasons.length > 0 ? 'held' : accepted,
      reasons,
      readMail: await readBy(tx, sendingOf(mail, agent), MAX_READ_MAIL, stamp.now),
      thread: context.thread,
      weight,
      fresh: fresh.length,
      size: mail.index.size,
    },
    stamp,
  );
}
