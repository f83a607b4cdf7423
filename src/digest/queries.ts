import { query, type Read } from '../../mail/store/engine/types.ts';
import { type AgentDay, agentsOf, isAuditCut, type Span } from './agent-queries.ts';
import { beginOf } from './day.ts';

/** Days of which a letter tells, when there was none for longer. */
export const MOST_DAYS = 7;

export interface AgentsDay extends Span {
  name: string;
  /** Its tokens, and passwords that agents used, by their ids. */
  agents: AgentDay[];
  /** The audit log has more of that time than was counted. */
  cut: boolean;
  /** When all were stopped. */
  stoppedAt: number | null;
  /** Messages and proposals that wait for a person. */
  waiting: { mail: number; proposals: number };
  /** How the audit log ended with the day. */
  head: { audit: number; hash: Uint8Array } | undefined;
}

/** What the agents of an organization did before a day began, since the last letter; undefined: there is no such organization. */
export const agentsDay = query(
  'agents-day',
  async (rx, { organization, day, now, others }: Asked): Promise<AgentsDay | undefined> => {
    const found = await rx.get<{ name: string; agents_stopped_at: number | null; last: number | null }>(
      `SELECT name, agents_stopped_at, (SELECT max(day) FROM digest WHERE organization_id = o.id AND day < ?2) AS last
       FROM organization o WHERE id = ?1`,
      organization,
      day,
    );
    if (found === undefined) return undefined;
    const span = { since: beginOf(Math.max(found.last ?? day - 1, day - MOST_DAYS)), until: beginOf(day) };
    const head = await rx.get<{ audit: number; hash: Uint8Array }>(
      'SELECT id AS audit, hash FROM audit WHERE organization_id = ? AND at < ? ORDER BY id DESC LIMIT 1',
      organization,
      span.until,
    );
    const { name, agents_stopped_at: stoppedAt } = found;
    const agents = await agentsOf(rx, { organization, now, others, ...span });
    const cut = await isAuditCut(rx, organization, span.since);
    return { name, stoppedAt, ...span, agents, cut, waiting: await waitingOf(rx, organization, now), head };
  },
);

interface Asked {
  organization: number;
  day: number;
  now: number;
  /** Who changed something in mailboxes, by their ids. */
  others: readonly string[];
}

async function waitingOf(rx: Read, organization: number, now: number): Promise<AgentsDay['waiting']> {
  const row = await rx.get<AgentsDay['waiting'] & Record<string, number>>(
    `SELECT (SELECT count(*) FROM approval INDEXED BY approval_waits
         WHERE tenant = ?1 AND state = 'pending' AND expires_at > ?2) AS mail,
       (SELECT count(*) FROM proposal WHERE organization_id = ?1 AND state = 'pending' AND expires_at > ?2) AS proposals`,
    organization,
    now,
  );
  return row ?? { mail: 0, proposals: 0 };
}
