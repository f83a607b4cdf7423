import { AGENT_STOPPED, ON_REQUEST, STOPPED_ON_REQUEST } from './agent-hold.ts';
import type { Row, Stamp, Write } from './engine/types.ts';
import { note } from './journal.ts';

/** Messages, and recipients, of one commit. */
const SLICE = 500;
/** Messages, and rows of the queue, that one commit looks at: most of them may be of others, or have been let go. */
const WINDOW = 10_000;

/** Whose mail is let go: that of some agents of a tenant, or with null of all. */
export interface LetGo {
  tenant: number;
  credentials: readonly string[] | null;
  /** Goes on where the slice before it ended; left out: with the first. */
  from?: LetGoPlace;
}

/** How far mail is let go: the last submission that waited as a whole, and the last row of the queue; null: all of them. */
export interface LetGoPlace {
  whole: number | null;
  queued: number | null;
  /** The newest stop when it began. */
  stop: number;
}

interface Held extends Row {
  id: number;
  trace: string;
  account_id: number | null;
  recipient: string;
  /** 1: it was held on request before. */
  kept: number;
}

/** What a slice came to; `place` is where the next goes on, null: there is none. */
interface Found {
  rows: readonly Held[];
  place: number | null;
}

/**
 * Lets go a slice of what was held since its agent was stopped, in the order in which it was sent; what could not be held
 * yet goes too. What had been held on request is held so again. Only a person asks for it. `next`: where the next slice
 * goes on, null: there is none. Nothing is lost with a place that is forgotten: who begins again looks at more.
 */
export async function releaseStopped(
  tx: Write,
  { tenant, credentials, from }: LetGo,
  stamp: Stamp,
): Promise<{ released: number; next: LetGoPlace | null }> {
  const whose = credentials === null ? null : JSON.stringify(credentials);
  const place = from ?? (await firstPlace(tx, tenant, whose));
  if (await isStoppedSince(tx, tenant, whose, place)) return { released: 0, next: null };
  const whole = await wholeBehind(tx, { tenant, whose, from: place.whole });
  for (const one of whole.rows) await releaseWhole(tx, tenant, one, stamp);
  const queued = await queuedBehind(tx, { tenant, whose, from: place.queued });
  for (const one of queued.rows) await releaseRow(tx, tenant, one, stamp);
  const released = whole.rows.length + queued.rows.filter(({ kept }) => kept === 0).length;
  const ended = whole.place === null && queued.place === null;
  return { released, next: ended ? null : { whole: whole.place, queued: queued.place, stop: place.stop } };
}

/** Ends what is being held still. Numbers of stops only grow, also those of stops that are known no more. */
async function firstPlace(tx: Write, tenant: number, whose: string | null): Promise<LetGoPlace> {
  const last = await tx.get<{ id: number | null }>('SELECT max(id) AS id FROM agent_hold');
  await tx.run(
    'DELETE FROM agent_hold WHERE tenant = ?1 AND (?2 IS NULL OR credential IN (SELECT value FROM json_each(?2)))',
    tenant,
    whose,
  );
  return { whole: 0, queued: 0, stop: last?.id ?? 0 };
}

/** Who stops an agent while its mail is let go means that mail too: the stop wins over what was asked before it. */
async function isStoppedSince(tx: Write, tenant: number, whose: string | null, { stop }: LetGoPlace): Promise<boolean> {
  const hold = await tx.get(
    `SELECT 1 AS yes FROM agent_hold WHERE tenant = ?1 AND id > ?3
       AND (?2 IS NULL OR credential IS NULL OR credential IN (SELECT value FROM json_each(?2))) LIMIT 1`,
    tenant,
    whose,
    stop,
  );
  return hold !== undefined;
}

interface Behind {
  tenant: number;
  /** JSON list; null: of all agents. */
  whose: string | null;
  from: number | null;
}

async function wholeBehind(tx: Write, { tenant, whose, from }: Behind): Promise<Found> {
  if (from === null) return { rows: [], place: null };
  const end = await tx.get<{ id: number }>(
    'SELECT submission_id AS id FROM scheduled WHERE tenant = ? AND submission_id > ? ORDER BY submission_id LIMIT 1 OFFSET ? + 0',
    tenant,
    from,
    WINDOW - 1,
  );
  const rows = await tx.all<Held>(
    `SELECT s.id, s.trace, s.account_id, '' AS recipient, 0 AS kept FROM scheduled d CROSS JOIN submission s ON s.id = d.submission_id
     WHERE d.tenant = ?1 AND d.submission_id > ?4 AND d.submission_id <= ?5 AND d.held_because = ?2
       AND (?3 IS NULL OR EXISTS (SELECT 1 FROM agent_send g
         WHERE g.trace = s.trace AND g.credential IN (SELECT value FROM json_each(?3)))) ORDER BY d.submission_id LIMIT ?6 + 0`,
    tenant,
    AGENT_STOPPED,
    whose,
    from,
    end?.id ?? Number.MAX_SAFE_INTEGER,
    SLICE,
  );
  return { rows, place: placeAfter(rows, end) };
}

async function queuedBehind(tx: Write, { tenant, whose, from }: Behind): Promise<Found> {
  if (from === null) return { rows: [], place: null };
  const end = await tx.get<{ id: number }>(
    'SELECT id FROM queue WHERE id > ? ORDER BY id LIMIT 1 OFFSET ? + 0',
    from,
    WINDOW - 1,
  );
  const rows = await tx.all<Held>(
    `SELECT q.id, s.trace, s.account_id, q.recipient, q.held_because = ?7 AS kept
     FROM queue q CROSS JOIN submission s ON s.id = q.submission_id
     WHERE q.id > ?4 AND q.id <= ?5 AND q.state = 1 AND q.held_because IN (?2, ?7) AND s.tenant = ?1
       AND (?3 IS NULL OR EXISTS (SELECT 1 FROM agent_send g
         WHERE g.trace = s.trace AND g.credential IN (SELECT value FROM json_each(?3)))) ORDER BY q.id LIMIT ?6 + 0`,
    tenant,
    AGENT_STOPPED,
    whose,
    from,
    end?.id ?? Number.MAX_SAFE_INTEGER,
    SLICE,
    STOPPED_ON_REQUEST,
  );
  return { rows, place: placeAfter(rows, end) };
}

/** A slice that is full may have more before the end of its window. */
function placeAfter(rows: readonly Held[], end: { id: number } | undefined): number | null {
  const last = rows.at(-1);
  return last !== undefined && rows.length === SLICE ? last.id : (end?.id ?? null);
}

async function releaseWhole(
  tx: Write,
  tenant: number,
  { id, trace, account_id: account }: Held,
  stamp: Stamp,
): Promise<void> {
  await tx.run('UPDATE scheduled SET held_because = NULL, attempts = 0 WHERE submission_id = ?', id);
  await note(tx, trace, 'released', account, { outbox: id }, stamp, { tenant });
}

async function releaseRow(
  tx: Write,
  tenant: number,
  { id, trace, account_id: account, recipient: to, kept }: Held,
  stamp: Stamp,
): Promise<void> {
  if (kept === 1) {
    await tx.run('UPDATE queue SET held_because = ? WHERE id = ?', ON_REQUEST, id);
    return note(tx, trace, 'held', account, { to, because: ON_REQUEST }, stamp, { tenant });
  }
  await tx.run('UPDATE queue SET state = 0, held_because = NULL, next_at = ? WHERE id = ?', stamp.now, id);
  return note(tx, trace, 'released', account, { to }, stamp, { tenant });
}
