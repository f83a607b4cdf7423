import { AGENT_STOPPED, ON_REQUEST } from '../../store/queue/queue-change.ts';
import { STOPPED_ON_REQUEST } from './hold.ts';
import type { Row, Stamp, Write } from '../../store/engine/types.ts';
import { recordJournalEvent } from '../../store/journal/journal.ts';

/** Messages, and recipients, per commit. */
const SLICE = 500;
/** Messages, and queue rows, that one commit scans: most of them may be others' or released already. */
const WINDOW = 10_000;

/** Agents whose mail is released; null: all agents of the tenant. */
export interface ReleaseRequest {
  tenant: number;
  credentials: readonly string[] | null;
  /** Continues behind the slice before; left out: from the start. */
  from?: ReleasePosition;
}

/** Position of a release: the last scheduled submission, and the last queue row; null: done. */
export interface ReleasePosition {
  whole: number | null;
  queued: number | null;
  /** The newest hold when the release began. */
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

/** A slice; `place`: the position of the next one, null: there is none. */
interface HeldSlice {
  rows: readonly Held[];
  place: number | null;
}

/**
 * Releases a slice of mail that was held because its agent was frozen, in the order of sending; mail not yet held is
 * released too. Mail that was held on request is held so again. Only a person may call it. `next`: position of the next
 * slice, null: there is none. Losing the position costs only scanning again.
 */
export async function releaseStopped(
  tx: Write,
  { tenant, credentials, from }: ReleaseRequest,
  stamp: Stamp,
): Promise<{ released: number; next: ReleasePosition | null }> {
  const whose = credentials === null ? null : JSON.stringify(credentials);
  const place = from ?? (await startRelease(tx, tenant, whose));
  if (await isFrozenSince(tx, tenant, whose, place)) return { released: 0, next: null };
  const whole = await scheduledAfter(tx, { tenant, whose, from: place.whole });
  for (const one of whole.rows) await releaseScheduled(tx, tenant, one, stamp);
  const queued = await queuedAfter(tx, { tenant, whose, from: place.queued });
  for (const one of queued.rows) await releaseRow(tx, tenant, one, stamp);
  const released = whole.rows.length + queued.rows.filter(({ kept }) => kept === 0).length;
  const ended = whole.place === null && queued.place === null;
  return { released, next: ended ? null : { whole: whole.place, queued: queued.place, stop: place.stop } };
}

/** Ends holds in progress. Ids of holds only grow, deleted ones included. */
async function startRelease(tx: Write, tenant: number, whose: string | null): Promise<ReleasePosition> {
  const last = await tx.get<{ id: number | null }>('SELECT max(id) AS id FROM agent_hold');
  await tx.run(
    `DELETE FROM agent_hold WHERE tenant = ?1 AND (?2 IS NULL OR credential IN (SELECT value FROM json_each(?2, '$')))`,
    tenant,
    whose,
  );
  return { whole: 0, queued: 0, stop: last?.id ?? 0 };
}

/** Tests for a newer hold of the same agents: freezing during a release stops the release. */
async function isFrozenSince(
  tx: Write,
  tenant: number,
  whose: string | null,
  { stop }: ReleasePosition,
): Promise<boolean> {
  const hold = await tx.get(
    `SELECT 1 AS yes FROM agent_hold WHERE tenant = ?1 AND id > ?3
       AND (?2 IS NULL OR credential IS NULL OR credential IN (SELECT value FROM json_each(?2, '$'))) LIMIT 1`,
    tenant,
    whose,
    stop,
  );
  return hold !== undefined;
}

interface SliceInput {
  tenant: number;
  /** JSON list; null: all agents. */
  whose: string | null;
  from: number | null;
}

async function scheduledAfter(tx: Write, { tenant, whose, from }: SliceInput): Promise<HeldSlice> {
  if (from === null) return { rows: [], place: null };
  const end = await tx.get<{ id: number }>(
    'SELECT submission_id AS id FROM scheduled WHERE tenant = ? AND submission_id > ? ORDER BY submission_id LIMIT 1 OFFSET ? + 0',
    tenant,
    from,
    WINDOW - 1,
  );
  const rows = await tx.all<Held>(
    `SELECT s.id, s.trace, s.account_id, '' AS recipient, 0 AS kept FROM scheduled d CROSS JOIN submission s ON s.id = d.submission_id
     WHERE d.tenant = ?1 AND d.submission_id > ?4 AND d.submission_id <= ?5 AND d.hold_reason = ?2
       AND (?3 IS NULL OR EXISTS (SELECT 1 FROM agent_send g
         WHERE g.trace = s.trace AND g.credential IN (SELECT value FROM json_each(?3, '$')))) ORDER BY d.submission_id LIMIT ?6 + 0`,
    tenant,
    AGENT_STOPPED,
    whose,
    from,
    end?.id ?? Number.MAX_SAFE_INTEGER,
    SLICE,
  );
  return { rows, place: positionAfter(rows, end) };
}

async function queuedAfter(tx: Write, { tenant, whose, from }: SliceInput): Promise<HeldSlice> {
  if (from === null) return { rows: [], place: null };
  const end = await tx.get<{ id: number }>(
    'SELECT id FROM queue WHERE id > ? ORDER BY id LIMIT 1 OFFSET ? + 0',
    from,
    WINDOW - 1,
  );
  const rows = await tx.all<Held>(
    `SELECT q.id, s.trace, s.account_id, q.recipient, q.hold_reason = ?7 AS kept
     FROM queue q CROSS JOIN submission s ON s.id = q.submission_id
     WHERE q.id > ?4 AND q.id <= ?5 AND q.state = 1 AND q.hold_reason IN (?2, ?7) AND s.tenant = ?1
       AND (?3 IS NULL OR EXISTS (SELECT 1 FROM agent_send g
         WHERE g.trace = s.trace AND g.credential IN (SELECT value FROM json_each(?3, '$')))) ORDER BY q.id LIMIT ?6 + 0`,
    tenant,
    AGENT_STOPPED,
    whose,
    from,
    end?.id ?? Number.MAX_SAFE_INTEGER,
    SLICE,
    STOPPED_ON_REQUEST,
  );
  return { rows, place: positionAfter(rows, end) };
}

/** Position after a slice; a full slice may have more before the end of its window. */
function positionAfter(rows: readonly Held[], end: { id: number } | undefined): number | null {
  const last = rows.at(-1);
  return last !== undefined && rows.length === SLICE ? last.id : (end?.id ?? null);
}

async function releaseScheduled(
  tx: Write,
  tenant: number,
  { id, trace, account_id: account }: Held,
  stamp: Stamp,
): Promise<void> {
  await tx.run('UPDATE scheduled SET hold_reason = NULL, attempts = 0 WHERE submission_id = ?', id);
  await recordJournalEvent(tx, trace, 'released', account, { outbox: id }, stamp, { tenant });
}

async function releaseRow(
  tx: Write,
  tenant: number,
  { id, trace, account_id: account, recipient: to, kept }: Held,
  stamp: Stamp,
): Promise<void> {
  if (kept === 1) {
    await tx.run('UPDATE queue SET hold_reason = ? WHERE id = ?', ON_REQUEST, id);
    return recordJournalEvent(tx, trace, 'held', account, { to, because: ON_REQUEST }, stamp, { tenant });
  }
  await tx.run('UPDATE queue SET state = 0, hold_reason = NULL, next_at = ? WHERE id = ?', stamp.now, id);
  return recordJournalEvent(tx, trace, 'released', account, { to }, stamp, { tenant });
}
