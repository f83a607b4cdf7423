import { command, lookup, query, type Read } from '../../store/engine/types.ts';
import { ACCOUNT_SPAN } from '../../store/search/account-span.ts';

/** Open release requests of one account. */
const MAX_REQUESTS = 500;
/** Findings of the filter that one search scans. */
const WINDOW = 5_000;

/** Release request and decision for a message that is hidden from programs. */
export interface QuarantineRelease {
  email: number;
  requestedBy: string;
  reason: string;
  /** ms UTC; null: not requested. */
  requestedAt: number | null;
  /** ms UTC; null: not released. */
  releasedAt: number | null;
}

/** Requests the release of a message to programs; a later request replaces an earlier one. */
export const requestRelease = command(
  'request-release',
  async (
    tx,
    { account, email, by, reason }: { account: number; email: number; by: string; reason: string },
    { now },
  ): Promise<{ kind: 'asked' | 'missing' | 'released' | 'too-many' }> => {
    if (!(await exists(tx, account, email))) return { kind: 'missing' };
    const pending = await tx.get<{ requests: number }>(
      `SELECT count(*) AS requests FROM agent_quarantine
       WHERE email_id >= ? AND email_id < ? AND released_at IS NULL AND requested_at IS NOT NULL AND email_id <> ?`,
      account * ACCOUNT_SPAN,
      (account + 1) * ACCOUNT_SPAN,
      email,
    );
    if ((pending?.requests ?? 0) >= MAX_REQUESTS) return { kind: 'too-many' };
    const { changes } = await tx.run(
      `INSERT INTO agent_quarantine (email_id, requested_by, reason, requested_at, released_by) VALUES (?1, ?2, ?3, ?4, '')
       ON CONFLICT (email_id) DO UPDATE SET requested_by = ?2, reason = ?3, requested_at = ?4 WHERE agent_quarantine.released_at IS NULL`,
      email,
      by,
      reason,
      now,
    );
    return { kind: changes === 1 ? 'asked' : 'released' };
  },
);

/** Releases a message to programs, or revokes the release. */
export const decideRelease = command(
  'decide-release',
  async (
    tx,
    { account, email, by, release }: { account: number; email: number; by: string; release: boolean },
    { now },
  ): Promise<{ kind: 'decided' | 'missing' }> => {
    if (!(await exists(tx, account, email))) return { kind: 'missing' };
    await tx.run(
      `INSERT INTO agent_quarantine (email_id, requested_by, reason, released_by, released_at) VALUES (?1, '', '', ?2, ?3)
       ON CONFLICT (email_id) DO UPDATE SET released_by = ?2, released_at = ?3, requested_at = NULL`,
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

/** Release states of messages; those without request or decision are left out. */
export const quarantineReleases = lookup(
  'quarantine-of',
  async (rx, { emails }: { emails: readonly number[] }): Promise<Map<number, QuarantineRelease>> => {
    const rows = await rx.all<QuarantineRelease & Record<string, string | number | null>>(
      `SELECT email_id AS email, requested_by AS requestedBy, reason, requested_at AS requestedAt, released_at AS releasedAt
       FROM agent_quarantine WHERE email_id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(emails),
    );
    return new Map(rows.map((row) => [row.email, row]));
  },
);

/**
 * Messages of an account that may be quarantined, newest first, below `before`: by the filter's findings, with a secret link,
 * or with a release request. Scans the findings of the newest few thousand; `next`: where to continue, null at the end.
 */
export const quarantineCandidates = query(
  'suspects-of',
  async (
    rx,
    { account, before, limit }: { account: number; before: number | null; limit: number },
  ): Promise<{ emails: number[]; next: number | null }> => {
    const first = account * ACCOUNT_SPAN;
    const end = before ?? first + ACCOUNT_SPAN;
    // Only findings have to be read one by one: messages that were imported have none, and the other two have indexes.
    const window = await rx.all<{ id: number }>(
      'SELECT email_id AS id FROM filter_result WHERE email_id >= ? AND email_id < ? ORDER BY email_id DESC LIMIT 1 OFFSET ?',
      first,
      end,
      WINDOW,
    );
    const low = window[0]?.id ?? first;
    const rows = await rx.all<{ email: number }>(
      `SELECT email_id AS email FROM filter_result WHERE email_id >= ?1 AND email_id < ?2
         AND (instr(verdict, '"hidden-text"') > 0 OR instr(trust, '"quarantined"') > 0)
       UNION SELECT id FROM email INDEXED BY email_redacted WHERE id >= ?1 AND id < ?2 AND redacted_from IS NOT NULL
       UNION SELECT email_id FROM agent_quarantine WHERE email_id >= ?1 AND email_id < ?2 ORDER BY 1 DESC LIMIT ?3`,
      low,
      end,
      limit,
    );
    const last = rows.length === limit ? rows.at(-1)?.email : undefined;
    return { emails: rows.map(({ email }) => email), next: last ?? (low > first ? low : null) };
  },
);
