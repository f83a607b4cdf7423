import { command, query, type Read } from './engine/types.ts';

/** Ids of an account's messages lie between this and the next multiple. */
const ACCOUNT_SPAN = 2 ** 32;
/** Questions of one account that wait for a person. */
const MOST_ASKED = 500;
/** Messages that one look for suspects goes through. */
const WINDOW = 5_000;

/** What was asked and decided about a message that programs are not shown. */
export interface Withheld {
  email: number;
  askedBy: string;
  reason: string;
  /** ms UTC; null: nobody asked. */
  askedAt: number | null;
  /** ms UTC; null: it is not released. */
  releasedAt: number | null;
}

/** Asks a person to show a message to programs; a later question takes the place of an earlier one. */
export const askRelease = command(
  'ask-release',
  async (
    tx,
    { account, email, by, reason }: { account: number; email: number; by: string; reason: string },
    { now },
  ): Promise<{ kind: 'asked' | 'missing' | 'released' | 'too-many' }> => {
    if (!(await exists(tx, account, email))) return { kind: 'missing' };
    const open = await tx.get<{ asked: number }>(
      `SELECT count(*) AS asked FROM withheld
       WHERE email_id >= ? AND email_id < ? AND released_at IS NULL AND asked_at IS NOT NULL AND email_id <> ?`,
      account * ACCOUNT_SPAN,
      (account + 1) * ACCOUNT_SPAN,
      email,
    );
    if ((open?.asked ?? 0) >= MOST_ASKED) return { kind: 'too-many' };
    const { changes } = await tx.run(
      `INSERT INTO withheld (email_id, asked_by, reason, asked_at, released_by) VALUES (?1, ?2, ?3, ?4, '')
       ON CONFLICT (email_id) DO UPDATE SET asked_by = ?2, reason = ?3, asked_at = ?4 WHERE released_at IS NULL`,
      email,
      by,
      reason,
      now,
    );
    return { kind: changes === 1 ? 'asked' : 'released' };
  },
);

/** A person shows a message to programs, or no more. */
export const decideRelease = command(
  'decide-release',
  async (
    tx,
    { account, email, by, release }: { account: number; email: number; by: string; release: boolean },
    { now },
  ): Promise<{ kind: 'decided' | 'missing' }> => {
    if (!(await exists(tx, account, email))) return { kind: 'missing' };
    await tx.run(
      `INSERT INTO withheld (email_id, asked_by, reason, released_by, released_at) VALUES (?1, '', '', ?2, ?3)
       ON CONFLICT (email_id) DO UPDATE SET released_by = ?2, released_at = ?3, asked_at = NULL`,
      email,
      by,
      release ? now : null,
    );
    return { kind: 'decided' };
  },
);

async function exists(rx: Read, account: number, email: number): Promise<boolean> {
  return (await rx.get('SELECT 1 AS one FROM email WHERE id = ? AND account_id = ?', email, account)) !== undefined;
}

/** What is known of messages, those about which nothing was asked or decided left out. */
export const withheldOf = query(
  'withheld-of',
  async (rx, { emails }: { emails: readonly number[] }): Promise<Map<number, Withheld>> => {
    const rows = await rx.all<Withheld & Record<string, string | number | null>>(
      `SELECT email_id AS email, asked_by AS askedBy, reason, asked_at AS askedAt, released_at AS releasedAt
       FROM withheld WHERE email_id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(emails),
    );
    return new Map(rows.map((row) => [row.email, row]));
  },
);

/**
 * Messages of an account that may be withheld, newest first, below `before`: by what the judge found, those that carry a
 * secret link, and those about which somebody asked. Goes through the newest few thousand; `next`: where to go on, null at the end.
 */
export const suspectsOf = query(
  'suspects-of',
  async (
    rx,
    { account, before, limit }: { account: number; before: number | null; limit: number },
  ): Promise<{ emails: number[]; next: number | null }> => {
    const first = account * ACCOUNT_SPAN;
    const end = before ?? first + ACCOUNT_SPAN;
    const window = await rx.all<{ id: number }>(
      'SELECT id FROM email WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ?',
      first,
      end,
      WINDOW,
    );
    const low = window[0]?.id ?? first;
    const rows = await rx.all<{ email: number }>(
      `SELECT email_id AS email FROM judged WHERE email_id >= ?1 AND email_id < ?2
         AND (instr(verdict, '"hidden-text"') > 0 OR instr(trust, '"quarantined"') > 0)
       UNION SELECT id FROM email WHERE id >= ?1 AND id < ?2 AND veiled_from IS NOT NULL
       UNION SELECT email_id FROM withheld WHERE email_id >= ?1 AND email_id < ?2 ORDER BY 1 DESC LIMIT ?3`,
      low,
      end,
      limit,
    );
    const last = rows.length === limit ? rows.at(-1)?.email : undefined;
    return { emails: rows.map(({ email }) => email), next: last ?? (low > first ? low : null) };
  },
);
