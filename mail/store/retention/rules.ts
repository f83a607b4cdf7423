import { command, lookup, query, type Read } from '../engine/types.ts';
import { type EntryRow, removeEntries } from '../message/entry.ts';
import { mailboxPath } from '../mailbox/mailbox.ts';

/** Days for which deleted messages can be restored, and ages at which Trash and Junk are emptied, by default. */
export const DEFAULT_DAYS = { deleted: 30, trash: 30, junk: 30 } as const;
const DAY_MS = 24 * 3600_000;
/** Messages of one slice, and mailboxes that it looks at. */
const SLICE = 100;
const MAILBOXES = 200;

/** Retention of a tenant. */
export interface RetentionSettings {
  deletedDays: number;
  /** Null: never. */
  trashDays: number | null;
  junkDays: number | null;
  rules: { folder: string; days: number }[];
}

/** Maximum rules of one tenant. */
export const MAX_RULES = 100;

/** Retention of a tenant: what it set, or the defaults. */
export const retentionOf = query(
  'retention-of',
  async (rx, { tenant }: { tenant: number }): Promise<RetentionSettings> => {
    const row = await rx.get<{ deleted_days: number; trash_days: number | null; junk_days: number | null }>(
      'SELECT deleted_days, trash_days, junk_days FROM retention_setting WHERE tenant = ?',
      tenant,
    );
    const rules = await rx.all<{ folder: string; days: number }>(
      'SELECT folder, days FROM retention_rule WHERE tenant = ? ORDER BY folder',
      tenant,
    );
    return {
      deletedDays: row?.deleted_days ?? DEFAULT_DAYS.deleted,
      trashDays: row === undefined ? DEFAULT_DAYS.trash : row.trash_days,
      junkDays: row === undefined ? DEFAULT_DAYS.junk : row.junk_days,
      rules: rules.map(({ folder, days }) => ({ folder, days })),
    };
  },
);

/** Replaces the retention of a tenant. */
export const setRetention = command(
  'set-retention',
  async (tx, input: { tenant: number } & RetentionSettings): Promise<{ kind: 'set' }> => {
    await tx.run(
      `INSERT INTO retention_setting (tenant, deleted_days, trash_days, junk_days) VALUES (?, ?, ?, ?)
       ON CONFLICT (tenant) DO UPDATE SET deleted_days = excluded.deleted_days, trash_days = excluded.trash_days,
         junk_days = excluded.junk_days`,
      input.tenant,
      input.deletedDays,
      input.trashDays,
      input.junkDays,
    );
    await tx.run('DELETE FROM retention_rule WHERE tenant = ?', input.tenant);
    for (const { folder, days } of input.rules.slice(0, MAX_RULES)) {
      await tx.run('INSERT INTO retention_rule (tenant, folder, days) VALUES (?, ?, ?)', input.tenant, folder, days);
    }
    return { kind: 'set' };
  },
);

/** A legal hold. */
export interface LegalHold extends Record<string, string | number> {
  account: number;
  reason: string;
  heldBy: string;
  /** ms UTC. */
  heldAt: number;
}

/** Legal holds of a tenant. */
export const legalHolds = lookup('legal-holds', (rx, { tenant }: { tenant: number }): Promise<LegalHold[]> =>
  rx.all<LegalHold>(
    `SELECT account_id AS account, reason, held_by AS heldBy, held_at AS heldAt FROM legal_hold WHERE tenant = ?
       ORDER BY account_id LIMIT 1000`,
    tenant,
  ),
);

/** Places a hold on an account, or lifts it (`reason` null). */
export const setLegalHold = command(
  'set-legal-hold',
  async (
    tx,
    input: { tenant: number; account: number; reason: string | null; by: string },
    stamp,
  ): Promise<{ kind: 'held' | 'lifted' }> => {
    if (input.reason === null) {
      await tx.run('DELETE FROM legal_hold WHERE account_id = ? AND tenant = ?', input.account, input.tenant);
      return { kind: 'lifted' };
    }
    await tx.run(
      `INSERT INTO legal_hold (account_id, tenant, reason, held_by, held_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (account_id) DO UPDATE SET reason = excluded.reason`,
      input.account,
      input.tenant,
      input.reason,
      input.by,
      stamp.now,
    );
    return { kind: 'held' };
  },
);

/** Reports whether an account is under legal hold. */
export async function isHeld(rx: Read, account: number): Promise<boolean> {
  return (await rx.get('SELECT 1 AS yes FROM legal_hold WHERE account_id = ?', account)) !== undefined;
}

const FIRST_HELD = `SELECT a.address FROM legal_hold h CROSS JOIN account a ON a.id = h.account_id
  WHERE a.tenant = ? ORDER BY a.id LIMIT 1`;

/** Address of a mailbox of an organization that is under legal hold; undefined: there is none. */
export const heldAddress = lookup(
  'held-address',
  async (rx, { tenant }: { tenant: number }): Promise<string | undefined> =>
    (await rx.get<{ address: string }>(FIRST_HELD, tenant))?.address,
);

/** A mailbox with the age at which its messages are deleted; null: never. */
export interface AgingMailbox {
  id: number;
  account: number;
  days: number | null;
}

/** Mailboxes with an age at which their messages are deleted, in the order of ids. */
export const agingMailboxes = lookup(
  'aging-mailboxes',
  async (rx, { after }: { after: number }): Promise<AgingMailbox[]> => {
    const rows = await rx.all<{ id: number; account: number; days: number | null }>(
      `SELECT b.id, b.account_id AS account, CASE b.role
         WHEN 'trash' THEN iif(s.tenant IS NULL, ?2, s.trash_days)
         WHEN 'junk' THEN iif(s.tenant IS NULL, ?3, s.junk_days) END AS days
       FROM mailbox b INDEXED BY mailbox_role JOIN account a ON a.id = b.account_id
         LEFT JOIN retention_setting s ON s.tenant = a.tenant
       WHERE b.role IN ('trash', 'junk') AND b.id > ?1 AND b.deleted_at IS NULL AND b.total > 0 AND a.state = 1
         AND NOT EXISTS (SELECT 1 FROM legal_hold h WHERE h.account_id = a.id)
       ORDER BY b.id LIMIT ?4 + 0`,
      after,
      DEFAULT_DAYS.trash,
      DEFAULT_DAYS.junk,
      MAILBOXES,
    );
    return rows.map((row) => ({ ...row }));
  },
);

/** Mailboxes that a rule of their tenant names, in the order of ids. */
export const ruledMailboxes = query(
  'ruled-mailboxes',
  async (rx, { after }: { after: number }): Promise<AgingMailbox[]> => {
    const rows = await rx.all<{ id: number; account: number; tenant: number }>(
      `SELECT DISTINCT b.id, b.account_id AS account, a.tenant FROM retention_rule r JOIN account a ON a.tenant = r.tenant
         JOIN mailbox b ON b.account_id = a.id
       WHERE b.id > ?1 AND b.deleted_at IS NULL AND b.total > 0 AND a.state = 1
         AND substr(r.folder, -length(b.name)) = b.name
         AND NOT EXISTS (SELECT 1 FROM legal_hold h WHERE h.account_id = a.id)
       ORDER BY b.id LIMIT ?2 + 0`,
      after,
      MAILBOXES,
    );
    const found: AgingMailbox[] = [];
    for (const { id, account, tenant } of rows) {
      found.push({ id, account, days: await daysOf(rx, tenant, await mailboxPath(rx, id)) });
    }
    return found;
  },
);

/** Days of the rule for a folder, by its whole path. */
async function daysOf(rx: Read, tenant: number, folder: string): Promise<number | null> {
  const rule = await rx.get<{ days: number }>(
    'SELECT days FROM retention_rule WHERE tenant = ? AND folder = ?',
    tenant,
    folder,
  );
  return rule?.days ?? null;
}

/**
 * Deletes a slice of the messages that are in a mailbox for longer than `days`; they can be restored as any other. True:
 * there may be more.
 */
export const deleteAged = command(
  'delete-aged',
  async (tx, input: { account: number; mailbox: number; days: number }, stamp): Promise<boolean> => {
    if (await isHeld(tx, input.account)) return false;
    // UIDs ascend with the time at which messages came into the mailbox: the oldest are the first.
    const rows = await tx.all<EntryRow & { save_at: number }>(
      `SELECT uid, email_id, flags, kw, modseq, received_at, thread_id, size, save_at FROM entry
       WHERE mailbox_id = ? ORDER BY uid LIMIT ?`,
      input.mailbox,
      SLICE,
    );
    const due = rows.filter((row) => row.save_at < stamp.now - input.days * DAY_MS);
    if (due.length > 0) await removeEntries(tx, input.account, input.mailbox, due, stamp);
    return due.length === SLICE;
  },
);
