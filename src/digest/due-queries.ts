import { query } from '../../mail/store/engine/types.ts';
import type { Span } from './agent-queries.ts';
import { newestDayAt } from './day.ts';

/**
 * May scan. Organizations with agents whose owners want the letter of a day, can have it and have not had it, by their ids.
 * That they had one of a day to come is the doing of a clock that ran ahead, unless it is the next one by little.
 */
export const digestDue = query(
  'digest-due',
  async (rx, input: { day: number; now: number; after: number; limit: number }): Promise<number[]> => {
    const rows = await rx.all<{ id: number }>(
      `SELECT o.id FROM organization o WHERE o.id > ?1 AND o.claimed_at IS NOT NULL AND o.frozen_at IS NULL
         AND EXISTS (SELECT 1 FROM member m JOIN user u ON u.id = m.user_id WHERE m.organization_id = o.id
           AND m.role = 'owner' AND m.daily_letter_off_at IS NULL AND u.address_proven_at IS NOT NULL)
         AND (EXISTS (SELECT 1 FROM token t WHERE t.organization_id = o.id AND t.revoked_at IS NULL
             AND (t.expires_at IS NULL OR t.expires_at > ?2))
           OR EXISTS (SELECT 1 FROM agent_policy p JOIN agent_policy_account a ON a.policy_id = p.id
             WHERE p.tenant = o.id))
         AND NOT EXISTS (SELECT 1 FROM digest d WHERE d.organization_id = o.id AND d.day BETWEEN ?3 AND ?5)
       ORDER BY o.id LIMIT ?4`,
      input.after,
      input.now,
      input.day,
      input.limit,
      newestDayAt(input.now),
    );
    return rows.map(({ id }) => id);
  },
);

/** Changes of one agent in mailboxes of an organization, of a time. */
export interface Undoable {
  /** Public id of a token, of an app password, or of the mailbox whose own password it used. */
  who: string;
  organization: number;
  changes: number;
  /** When the time began, ms UTC. */
  since: number;
}

/** May scan. How much each agent of the box changed in mailboxes that could be undone. */
export const undoableChanges = query('undoable-changes', async (rx, { since, until }: Span): Promise<Undoable[]> => {
  const rows = await rx.all<{ who: string; organization: number; changes: number }>(
    `SELECT c.who, a.tenant AS organization, count(*) AS changes FROM agent_change c JOIN account a ON a.id = c.account_id
     WHERE c.at >= ? AND c.at < ? GROUP BY c.who, a.tenant`,
    since,
    until,
  );
  return rows.map((row) => ({ ...row, since }));
});
