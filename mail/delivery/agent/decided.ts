import { keepAgentSend } from '../../store/agent-send.ts';
import { countAllowance } from '../../store/allowance.ts';
import type { Stamp, Write } from '../../store/engine/types.ts';
import { readBy } from '../../store/exposure.ts';
import type { Submission } from '../submit.ts';
import { readerOf, sendingOf } from './asking.ts';
import { freshOf } from './budgets.ts';
import { circleOf } from './circle.ts';
import { weightOf } from './egress.ts';
import type { AgentSending, Reason } from './types.ts';

/** Messages that had been read, as a decision remembers them. */
const MOST_READ = 10;

/**
 * Counts a message of an agent and remembers why it went or waits, in the commit that takes it. To be called before its
 * recipients are counted anywhere else: they are no strangers afterwards.
 */
export async function noteDecided(
  tx: Write,
  mail: Submission,
  { agent, reasons }: { agent: AgentSending; reasons: readonly Reason[] },
  stamp: Stamp,
): Promise<void> {
  const circle = await circleOf(tx, mail, agent);
  const asking = { mail, agent, circle };
  const fresh = await freshOf(tx, asking);
  const weight = await weightOf(tx, asking, stamp.now);
  const { tenant, allowance } = mail;
  const recipients = circle.recipients.map(({ key }) => key);
  if (weight > 1) await countAllowance(tx, { tenant, allowance, recipients }, stamp);
  const taken = mail.sendAt === null ? 'taken' : 'scheduled';
  await keepAgentSend(
    tx,
    {
      trace: mail.trace,
      tenant,
      account: mail.account,
      reader: readerOf(agent),
      credential: agent.credential,
      outcome: reasons.length > 0 ? 'held' : taken,
      reasons,
      exposure: await readBy(tx, sendingOf(mail, agent), MOST_READ, stamp.now),
      thread: circle.thread,
      weight,
      fresh: fresh.length,
      size: mail.index.size,
    },
    stamp,
  );
}
