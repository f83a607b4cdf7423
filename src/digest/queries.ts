import { lookup, query, type Read } from '../../mail/store/engine/types.ts';
import { type AgentDay, agentDaysOf, isAuditCut, type Span } from './agent-queries.ts';
import { beginOf, newestDayAt } from './day.ts';

/** Days that a digest covers at most. */
export const MAX_DIGEST_DAYS = 7;

export interface AgentsDay extends Span {
  name: string;
  /** Tokens, and passwords that agents used, by id. */
  agents: AgentDay[];
  /** The audit log has more rows of that time than were counted. */
  cut: boolean;
  /** Time at which all agents were stopped. */
  stoppedAt: number | null;
  /** Pending approvals: messages and proposals. */
  waiting: { mail: number; proposals: number };
  /** Last row of the audit log at the end of the day. */
  head: { audit: number; hash: Uint8Array } | undefined;
}

/** Activity of an organization's agents before a day began, since the last digest; undefined: no such organization. */
export const agentsDay = query(
  'agents-day',
  async (rx, { organization, day, now, others }: AgentsDayInput): Promise<AgentsDay | undefined> => {
    const found = await rx.get<{ name: string; agents_stopped_at: number | null; last: number | null }>(
      `SELECT name, agents_stopped_at, (SELECT max(day) FROM digest WHERE organization_id = o.id AND day < ?2) AS last
       FROM organization o WHERE id = ?1`,
      organization,
      day,
    );
    if (found === undefined) return undefined;
    const span = { since: beginOf(Math.max(found.last ?? day - 1, day - MAX_DIGEST_DAYS)), until: beginOf(day) };
    const head = await rx.get<{ audit: number; hash: Uint8Array }>(
      'SELECT id AS audit, hash FROM audit WHERE organization_id = ? AND at < ? ORDER BY id DESC LIMIT 1',
      organization,
      span.until,
    );
    const { name, agents_stopped_at: stoppedAt } = found;
    const agents = await agentDaysOf(rx, { organization, now, others, ...span });
    const cut = await isAuditCut(rx, organization, span.since);
    return { name, stoppedAt, ...span, agents, cut, waiting: await pendingOf(rx, organization, now), head };
  },
);

interface AgentsDayInput {
  organization: number;
  day: number;
  now: number;
  /** Ids of agents with changes in mailboxes. */
  others: readonly string[];
}

async function pendingOf(rx: Read, organization: number, now: number): Promise<AgentsDay['waiting']> {
  const row = await rx.get<AgentsDay['waiting'] & Record<string, number>>(
    `SELECT (SELECT count(*) FROM approval INDEXED BY approval_pending_tenant
         WHERE tenant = ?1 AND state = 'pending' AND expires_at > ?2) AS mail,
       (SELECT count(*) FROM proposal WHERE organization_id = ?1 AND state = 'pending' AND expires_at > ?2) AS proposals`,
    organization,
    now,
  );
  return row ?? { mail: 0, proposals: 0 };
}

/**
 * May scan. Organizations with agents whose owners get the digest of a day and have not had it, by id. Digests of future days
 * come from a wrong clock and are ignored, unless the day is about to begin.
 */
export const digestDue = lookup(
  'digest-due',
  async (rx, input: { day: number; now: number; after: number; limit: number }): Promise<number[]> => {
    const rows = await rx.all<{ id: number }>(
      `SELECT o.id FROM organization o WHERE o.id > ?1 AND o.claimed_at IS NOT NULL AND o.frozen_at IS NULL
         AND EXISTS (SELECT 1 FROM member m JOIN user u ON u.id = m.user_id WHERE m.organization_id = o.id
           AND m.role = 'owner' AND m.digest_disabled_at IS NULL AND u.address_verified_at IS NOT NULL)
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

/** Number of changes by one agent in mailboxes of an organization. */
export interface Undoable {
  /** Public id of a token, an app password, or the mailbox whose own password it used. */
  who: string;
  organization: number;
  changes: number;
  /** Beginning of the time, ms UTC. */
  since: number;
}

/** May scan. Number of changes in mailboxes that can be undone, by agent. */
export const undoableChanges = lookup('undoable-changes', async (rx, { since, until }: Span): Promise<Undoable[]> => {
  const rows = await rx.all<{ who: string; organization: number; changes: number }>(
    `SELECT c.actor AS who, a.tenant AS organization, count(*) AS changes FROM agent_change c JOIN account a ON a.id = c.account_id
     WHERE c.at >= ? AND c.at < ? GROUP BY c.actor, a.tenant`,
    since,
    until,
  );
  return rows.map((row) => ({ ...row, since }));
});

/** Tests if an owner gets the daily digest; null: no owner. */
export const getsDailyLetter = lookup(
  'gets-daily-letter',
  async (rx, { organization, user }: { organization: number; user: number }): Promise<boolean | null> => {
    const row = await rx.get<{ off: number | null }>(
      `SELECT digest_disabled_at AS off FROM member WHERE organization_id = ? AND user_id = ? AND role = 'owner'`,
      organization,
      user,
    );
    return row === undefined ? null : row.off === null;
  },
);

/** Owner with a verified address who replied to a digest; undefined if there is none. */
export const replyingOwner = lookup(
  'answering-owner',
  async (
    rx,
    { organization, user }: { organization: number; user: number },
  ): Promise<{ email: string; name: string } | undefined> =>
    rx.get<{ email: string; name: string }>(
      `SELECT u.email, o.name FROM member m JOIN user u ON u.id = m.user_id JOIN organization o ON o.id = m.organization_id
       WHERE m.organization_id = ? AND m.user_id = ? AND m.role = 'owner' AND u.address_verified_at IS NOT NULL`,
      organization,
      user,
    ),
);
