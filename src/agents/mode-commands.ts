import type { AgentMode } from '../../mail/delivery/agent/types.ts';
import { holdAgentMail } from '../../mail/store/agent-hold.ts';
import { type LetGoPlace, releaseStopped } from '../../mail/store/agent-release.ts';
import { command, type Read } from '../../mail/store/engine/types.ts';
import { publicId } from '../ids.ts';

/**
 * Sets how a token may work, and those that it made with it: they are the same agent's. What a frozen one sent and has not
 * left is held until a person lets it go.
 */
export const setTokenMode = command(
  'set-token-mode',
  async (
    tx,
    input: { organization: number; id: number; mode: AgentMode },
    stamp,
  ): Promise<{ kind: 'set'; held: number } | { kind: 'missing' }> => {
    const { organization, id, mode } = input;
    const line = await tx.all<{ id: number; sent: number }>(
      `WITH RECURSIVE line (id) AS (
         SELECT id FROM token WHERE id = ?1 AND organization_id = ?2 AND revoked_at IS NULL
         UNION SELECT t.id FROM line l JOIN token t ON t.created_by = 'tok_' || l.id AND t.organization_id = ?2)
       UPDATE token SET mode = ?3 WHERE id IN (SELECT id FROM line)
       RETURNING id, EXISTS (SELECT 1 FROM agent_send WHERE credential = 'tok_' || token.id) AS sent`,
      id,
      organization,
      mode,
    );
    const senders = line.filter(({ sent }) => sent === 1).map((one) => publicId('token', one.id));
    const held = mode === 'frozen' ? await holdAgentMail(tx, organization, senders, stamp) : 0;
    return line.length === 0 ? { kind: 'missing' } : { kind: 'set', held };
  },
);

/** Stops all agents of an organization, or lets them work again as each could before. */
export const stopAgents = command(
  'stop-agents',
  async (
    tx,
    { organization, stopped }: { organization: number; stopped: boolean },
    stamp,
  ): Promise<{ held: number }> => {
    await tx.run(
      'UPDATE organization SET agents_stopped_at = iif(?, coalesce(agents_stopped_at, ?), NULL) WHERE id = ?',
      Number(stopped),
      stamp.now,
      organization,
    );
    return { held: stopped ? await holdAgentMail(tx, organization, [null], stamp) : 0 };
  },
);

/** Lets go a slice of what was held of one agent with those that it made, or of all, when they were stopped; nothing of an organization that is frozen. */
export const releaseAgentMail = command(
  'release-agent-mail',
  async (
    tx,
    { organization, id, from }: { organization: number; id: number | null; from?: LetGoPlace },
    stamp,
  ): Promise<{ kind: 'released'; released: number; next: LetGoPlace | null } | { kind: 'frozen' }> => {
    const frozen = await tx.get(
      'SELECT 1 AS there FROM organization WHERE id = ? AND frozen_at IS NOT NULL',
      organization,
    );
    if (frozen !== undefined) return { kind: 'frozen' };
    const credentials = id === null ? null : await lineOf(tx, organization, id);
    const letGo = { tenant: organization, credentials, ...(from !== undefined && { from }) };
    return { kind: 'released', ...(await releaseStopped(tx, letGo, stamp)) };
  },
);

/** Also of tokens that have ended: what they sent may be held still. */
async function lineOf(rx: Read, organization: number, id: number): Promise<string[]> {
  const line = await rx.all<{ id: number }>(
    `WITH RECURSIVE line (id) AS (
       SELECT CAST(?1 AS INTEGER) UNION SELECT t.id FROM line l JOIN token t ON t.created_by = 'tok_' || l.id AND t.organization_id = ?2)
     SELECT id FROM line`,
    id,
    organization,
  );
  return line.map((one) => publicId('token', one.id));
}
