import { command, query, type Read, type Row, type Stamp, type Write } from './engine/types.ts';
import { note } from './journal.ts';
import { forgive } from './sender-use.ts';

const DAY_MS = 24 * 3_600_000;
/** Messages of one commit. */
const SLICE = 200;

/** How the reason begins for which mail of a paused sender is held; its own follows. */
export const PAUSED = 'its sender is paused';

/** Whose conduct is watched. */
export interface Watched {
  /** `account/12`, or the public id of a key. */
  sender: string;
  tenant: number;
  /** Null: a program's. */
  account: number | null;
}

export interface PausedSender extends Watched {
  /** ms UTC. */
  pausedAt: number;
  /** A sentence without its full stop. */
  why: string;
  figures: Readonly<Record<string, number>>;
}

interface PausedRow extends Row {
  sender: string;
  tenant: number;
  account_id: number | null;
  paused_at: number;
  why: string;
  figures: string;
}

/** Why mail of a sender is held; undefined when it is not paused. */
export async function heldFor(rx: Read, sender: string): Promise<string | undefined> {
  const row = await rx.get<{ why: string }>(
    'SELECT why FROM paused_sender WHERE sender = ? AND paused_at IS NOT NULL',
    sender,
  );
  return row === undefined ? undefined : `${PAUSED}: ${row.why}`;
}

/** Whether a person said a short time ago that a sender does what it shall. */
export async function isEased(rx: Read, sender: string, now: number): Promise<boolean> {
  const row = await rx.get('SELECT 1 AS there FROM paused_sender WHERE sender = ? AND eased_until > ?', sender, now);
  return row !== undefined;
}

/** Stops a sender; one that is stopped already stays as it is. The story of the message says so, and who listens is told. */
export async function pauseSender(
  tx: Write,
  { sender, tenant, account }: Watched,
  about: { why: string; figures: Readonly<Record<string, number>>; trace: string },
  stamp: Stamp,
): Promise<void> {
  const { why, figures, trace } = about;
  const { changes } = await tx.run(
    `INSERT INTO paused_sender (sender, tenant, account_id, paused_at, why, figures) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (sender) DO UPDATE SET paused_at = excluded.paused_at, why = excluded.why, figures = excluded.figures,
       told_at = NULL, eased_until = 0 WHERE paused_at IS NULL`,
    sender,
    tenant,
    account,
    stamp.now,
    why,
    JSON.stringify(figures),
  );
  if (changes === 1) await note(tx, trace, 'paused', account, { because: why }, stamp, { tenant });
}

/** Holds a row of the queue whose sender is paused. Nothing of it is dialled, whatever else let it go. */
export async function holdPaused(tx: Write, id: number, stamp: Stamp): Promise<void> {
  const row = await tx.get<{ trace: string; tenant: number; account_id: number | null; to: string; sent_by: string }>(
    `SELECT s.trace, s.tenant, s.account_id, q.recipient AS "to", s.sent_by
     FROM queue q JOIN submission s ON s.id = q.submission_id WHERE q.id = ? AND q.state = 0`,
    id,
  );
  const because = row === undefined ? undefined : await heldFor(tx, row.sent_by);
  if (row === undefined || because === undefined) return;
  const { trace, tenant, account_id: account, to } = row;
  await tx.run('UPDATE queue SET state = 1, held_because = ? WHERE id = ?', because, id);
  await note(tx, trace, 'held', account, { to, because }, stamp, { tenant });
}

/** Of a tenant, in the order of their ids. */
export const pausedSenders = query(
  'paused-senders',
  async (rx, input: { tenant: number; after: string; limit: number }): Promise<PausedSender[]> => {
    const rows = await rx.all<PausedRow>(
      `SELECT sender, tenant, account_id, paused_at, why, figures FROM paused_sender
       WHERE tenant = ? AND sender > ? AND paused_at IS NOT NULL ORDER BY sender LIMIT ?`,
      input.tenant,
      input.after,
      input.limit,
    );
    return rows.map(shown);
  },
);

/** Senders whose owners do not know yet that they are paused. */
export const untoldPauses = query('untold-pauses', async (rx, input: { limit: number }): Promise<PausedSender[]> => {
  const rows = await rx.all<PausedRow>(
    `SELECT sender, tenant, account_id, paused_at, why, figures FROM paused_sender
     WHERE paused_at IS NOT NULL AND told_at IS NULL LIMIT ?`,
    input.limit,
  );
  return rows.map(shown);
});

function shown({ account_id: account, paused_at: pausedAt, figures, ...row }: PausedRow): PausedSender {
  return {
    sender: row.sender,
    tenant: row.tenant,
    why: row.why,
    account,
    pausedAt,
    figures: JSON.parse(figures) as Record<string, number>,
  };
}

export interface Resumed {
  /** `none`: the tenant has no such sender that is paused, and nothing held for it. */
  kind: 'resumed' | 'none';
  /** Recipients and messages that go on. */
  released: number;
  /** There is more that was held: ask again. */
  more: boolean;
}

/**
 * Lets a sender send again, and lets go a slice of what was held for it. For a day its limits are wider, and what spoke
 * against it before counts no more: so it is not paused at once for the same reason.
 */
export const resumeSender = command(
  'resume-sender',
  async (tx, { sender, tenant }: { sender: string; tenant: number }, stamp): Promise<Resumed> => {
    const { changes } = await tx.run(
      `UPDATE paused_sender SET paused_at = NULL, eased_until = ?
       WHERE sender = ? AND tenant = ? AND paused_at IS NOT NULL`,
      stamp.now + DAY_MS,
      sender,
      tenant,
    );
    if (changes === 1) await forgive(tx, sender, stamp.now);
    // One that was paused again meanwhile lets nothing go.
    else if ((await heldFor(tx, sender)) !== undefined) return { kind: 'none', released: 0, more: false };
    const waiting = await releaseWhole(tx, { sender, tenant }, stamp);
    const rows = await releaseRows(tx, { sender, tenant }, stamp);
    const more = waiting === SLICE || rows === SLICE;
    const released = waiting + rows;
    return { kind: changes === 1 || released > 0 ? 'resumed' : 'none', released, more };
  },
);

interface Held extends Row {
  id: number;
  trace: string;
  account_id: number | null;
  recipient: string;
}

async function releaseWhole(
  tx: Write,
  { sender, tenant }: { sender: string; tenant: number },
  stamp: Stamp,
): Promise<number> {
  const rows = await tx.all<Held>(
    `SELECT s.id, s.trace, s.account_id, '' AS recipient FROM submission s INDEXED BY submission_sent_by
       CROSS JOIN scheduled d ON d.submission_id = s.id
     WHERE s.sent_by = ?1 AND s.sent_by <> '' AND s.tenant = ?2 AND substr(d.held_because, 1, length(?3)) = ?3
     ORDER BY s.id LIMIT ?4`,
    sender,
    tenant,
    PAUSED,
    SLICE,
  );
  for (const { id, trace, account_id: account } of rows) {
    await tx.run('UPDATE scheduled SET held_because = NULL, attempts = 0 WHERE submission_id = ?', id);
    await note(tx, trace, 'released', account, { outbox: id }, stamp, { tenant });
  }
  return rows.length;
}

async function releaseRows(
  tx: Write,
  { sender, tenant }: { sender: string; tenant: number },
  stamp: Stamp,
): Promise<number> {
  const rows = await tx.all<Held>(
    `SELECT q.id, s.trace, s.account_id, q.recipient FROM submission s INDEXED BY submission_sent_by
       CROSS JOIN queue q ON q.submission_id = s.id
     WHERE s.sent_by = ?1 AND s.sent_by <> '' AND s.tenant = ?2 AND q.state = 1
       AND substr(q.held_because, 1, length(?3)) = ?3
     ORDER BY s.id LIMIT ?4`,
    sender,
    tenant,
    PAUSED,
    SLICE,
  );
  for (const { id, trace, account_id: account, recipient: to } of rows) {
    await tx.run('UPDATE queue SET state = 0, held_because = NULL, next_at = ? WHERE id = ?', stamp.now, id);
    await note(tx, trace, 'released', account, { to }, stamp, { tenant });
  }
  return rows.length;
}
