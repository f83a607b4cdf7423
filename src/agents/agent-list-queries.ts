import type { AgentMode } from '../../mail/agents/gate/types.ts';
import { query, type Row } from '../../mail/store/engine/types.ts';
import { publicId } from '../core/ids.ts';

const DAY_MS = 24 * 3_600_000;

/** A token of an organization, as its owner sees it. */
export interface AgentRow {
  id: number;
  name: string;
  shown: string;
  mode: AgentMode;
  actions: string[];
  lastUsedAt: number | null;
  /** In 24 hours: mail from outsiders that it read, at most 500, and messages that it submitted. */
  read: number;
  sent: number;
  held: number;
}

interface Columns extends Row {
  id: number;
  name: string;
  shown: string;
  mode: AgentMode;
  actions: string;
  last_used_at: number | null;
}

/** Valid tokens of an organization, and the time at which all of them were stopped, ms UTC. */
export const agentsOf = query(
  'agents-of',
  async (
    rx,
    { organization, now }: { organization: number; now: number },
  ): Promise<{ stoppedAt: number | null; agents: AgentRow[] }> => {
    const stopped = await rx.get<{ at: number | null }>(
      'SELECT agents_stopped_at AS at FROM organization WHERE id = ?',
      organization,
    );
    const tokens = await rx.all<Columns>(
      `SELECT id, name, display_prefix AS shown, mode, actions, last_used_at FROM token
       WHERE organization_id = ?1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2) ORDER BY id`,
      organization,
      now,
    );
    const read = await rx.all<{ credential: string; mails: number }>(
      `SELECT e.credential, count(*) AS mails FROM tainted_reader x
         CROSS JOIN untrusted_read e ON e.reader = x.reader AND e.at > ?2
       WHERE x.tenant = ?1 GROUP BY e.credential`,
      organization,
      now - DAY_MS,
    );
    const sent = await rx.all<{ credential: string; mails: number; held: number }>(
      `SELECT credential, count(*) AS mails, sum(outcome = 'held') AS held FROM agent_send
       WHERE tenant = ?1 AND at > ?2 GROUP BY credential`,
      organization,
      now - DAY_MS,
    );
    const reads = new Map(read.map((one) => [one.credential, one.mails]));
    const sends = new Map(sent.map((one) => [one.credential, one]));
    const agents = tokens.map(({ last_used_at: lastUsedAt, actions, ...row }) => {
      const credential = publicId('token', row.id);
      const { mails = 0, held = 0 } = sends.get(credential) ?? {};
      const counts = { read: reads.get(credential) ?? 0, sent: mails, held };
      return { ...row, ...counts, actions: actions.split(' '), lastUsedAt };
    });
    return { stoppedAt: stopped?.at ?? null, agents };
  },
);
