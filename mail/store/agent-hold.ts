import type { Row, Stamp, Write } from './engine/types.ts';
import { note } from './journal.ts';

/** Why mail of an agent is held that had not left when a person stopped it. */
export const AGENT_STOPPED = 'its agent was stopped: a person lets it go, or takes it back';

/** Messages and recipients of one commit; the newest, as the others have left or wait for long. */
const MOST = 500;

interface Waiting extends Row {
  id: number;
  trace: string;
  account_id: number | null;
  recipient: string;
}

// What it sent last.
const SENT = `SELECT trace FROM agent_send WHERE tenant = ?1 AND (credential = ?2 OR ?2 IS NULL) ORDER BY id DESC LIMIT ?3`;

/**
 * Holds what an agent of a tenant sent, or all of them did, and what has not left: what waits for its time, and what is in
 * the queue. Answers how much that is.
 */
export async function holdAgentMail(
  tx: Write,
  { tenant, credential }: { tenant: number; credential: string | null },
  stamp: Stamp,
): Promise<number> {
  const waiting = await tx.all<Waiting>(
    `SELECT s.id, s.trace, s.account_id, '' AS recipient FROM (${SENT}) g CROSS JOIN submission s ON s.trace = g.trace
     JOIN scheduled d ON d.submission_id = s.id WHERE d.held_because IS NULL`,
    tenant,
    credential,
    MOST,
  );
  for (const { id, trace, account_id: account } of waiting) {
    await tx.run('UPDATE scheduled SET held_because = ? WHERE submission_id = ?', AGENT_STOPPED, id);
    await note(tx, trace, 'held', account, { because: AGENT_STOPPED }, stamp, { tenant });
  }
  const queued = await tx.all<Waiting>(
    `SELECT q.id, s.trace, s.account_id, q.recipient FROM (${SENT}) g CROSS JOIN submission s ON s.trace = g.trace
     JOIN queue q ON q.submission_id = s.id WHERE q.state = 0 LIMIT ?3`,
    tenant,
    credential,
    MOST,
  );
  for (const { id, trace, account_id: account, recipient: to } of queued) {
    await tx.run('UPDATE queue SET state = 1, held_because = ? WHERE id = ?', AGENT_STOPPED, id);
    await note(tx, trace, 'held', account, { to, because: AGENT_STOPPED }, stamp, { tenant });
  }
  return waiting.length + queued.length;
}
