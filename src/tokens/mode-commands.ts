import type { AgentMode } from '../../mail/agents/gate/types.ts';
import { holdAgentMail } from '../../mail/agents/freeze/hold.ts';
import { type ReleasePosition, releaseStopped } from '../../mail/agents/freeze/release.ts';
import { command, type Read } from '../../mail/store/engine/types.ts';
import { publicId } from '../core/ids.ts';

/**
 * Sets the mode of a token and of the tokens it created, which belong to the same agent. Freezing holds its queued mail
 * until a person releases it.
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

/** Stops all agents of an organization, or restores their own modes. */
export const stopAgents = command(
  'stop-agents',
  async (
    tx,
    { organization, stopped }: { organization: number; stopped: boolean },
    stamp,
  ): Promise<{ held: number }> => {
    await tx.run(
      'UPDATE organization SET agents_stopped_at = iif(? = 1, coalesce(agents_stopped_at, ?), NULL) WHERE id = ?',
      Number(stopped),
      stamp.now,
      organization,
    );
    return { held: stopped ? await holdAgentMail(tx, organization, [null], stamp) : 0 };
  },
);

/** Releases a slice of the held mail of one agent's tokens, or of all stopped agents; none in a frozen organization. */
export const releaseAgentMail = command(
  'release-agent-mail',
  async (
    tx,
    { organization, id, from }: { organization: number; id: number | null; from?: ReleasePosition },
    stamp,
  ): Promise<{ kind: 'released'; released: number; next: ReleasePosition | null } | { kind: 'frozen' }> => {
    const frozen = await tx.get(
      'SELECT 1 AS there FROM organization WHERE id = ? AND frozen_at IS NOT NULL',
      organization,
    );
    if (frozen !== undefined) return { kind: 'frozen' };
    const credentials = id === null ? null : await lineOf(tx, organization, id);
    const release = { tenant: organization, credentials, ...(from !== undefined && { from }) };
    return { kind: 'released', ...(await releaseStopped(tx, release, stamp)) };
  },
);

/** The token and those it created, revoked ones too: their mail may still be held. */
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
