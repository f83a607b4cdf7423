import { AGENT_STOPPED, ON_REQUEST, STOPPED_ON_REQUEST } from './agent-hold.ts';
import type { Row, Stamp, Write } from './engine/types.ts';
import { note } from './journal.ts';

/** Messages, and recipients, of one commit. */
const SLICE = 500;

/** Whose mail is let go: that of some agents of a tenant, or with null of all. */
export interface LetGo {
  tenant: number;
  credentials: readonly string[] | null;
}

interface Held extends Row {
  id: number;
  trace: string;
  account_id: number | null;
  recipient: string;
  /** 1: it was held on request before. */
  kept: number;
}

/**
 * Lets go a slice of what was held since its agent was stopped, in the order in which it was sent; what could not be held
 * yet goes too. What had been held on request is held so again. Only a person asks for it. `more`: ask again.
 */
export async function releaseStopped(
  tx: Write,
  { tenant, credentials }: LetGo,
  stamp: Stamp,
): Promise<{ released: number; more: boolean }> {
  const whose = credentials === null ? null : JSON.stringify(credentials);
  await tx.run(
    'DELETE FROM agent_hold WHERE tenant = ?1 AND (?2 IS NULL OR credential IN (SELECT value FROM json_each(?2)))',
    tenant,
    whose,
  );
  const whole = await tx.all<Held>(
    `SELECT s.id, s.trace, s.account_id, '' AS recipient, 0 AS kept FROM scheduled d JOIN submission s ON s.id = d.submission_id
     WHERE d.tenant = ?1 AND d.held_because = ?2 AND (?3 IS NULL OR EXISTS (
       SELECT 1 FROM agent_send g WHERE g.trace = s.trace AND g.credential IN (SELECT value FROM json_each(?3)))) ORDER BY s.id LIMIT ?4`,
    tenant,
    AGENT_STOPPED,
    whose,
    SLICE,
  );
  for (const { id, trace, account_id: account } of whole) {
    await tx.run('UPDATE scheduled SET held_because = NULL, attempts = 0 WHERE submission_id = ?', id);
    await note(tx, trace, 'released', account, { outbox: id }, stamp, { tenant });
  }
  const queued = await tx.all<Held>(
    `SELECT q.id, s.trace, s.account_id, q.recipient, q.held_because = ?5 AS kept
     FROM queue q JOIN submission s ON s.id = q.submission_id
     WHERE q.state = 1 AND q.held_because IN (?2, ?5) AND s.tenant = ?1 AND (?3 IS NULL OR EXISTS (
       SELECT 1 FROM agent_send g WHERE g.trace = s.trace AND g.credential IN (SELECT value FROM json_each(?3)))) ORDER BY q.id LIMIT ?4`,
    tenant,
    AGENT_STOPPED,
    whose,
    SLICE,
    STOPPED_ON_REQUEST,
  );
  for (const { id, trace, account_id: account, recipient: to, kept } of queued) {
    if (kept === 1) {
      await tx.run('UPDATE queue SET held_because = ? WHERE id = ?', ON_REQUEST, id);
      await note(tx, trace, 'held', account, { to, because: ON_REQUEST }, stamp, { tenant });
      continue;
    }
    await tx.run('UPDATE queue SET state = 0, held_because = NULL, next_at = ? WHERE id = ?', stamp.now, id);
    await note(tx, trace, 'released', account, { to }, stamp, { tenant });
  }
  const released = whole.length + queued.filter(({ kept }) => kept === 0).length;
  return { released, more: whole.length === SLICE || queued.length === SLICE };
}
