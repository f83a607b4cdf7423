import type { AgentMode } from '../../mail/delivery/agent/types.ts';
import { holdAgentMail } from '../../mail/store/agent-hold.ts';
import { command } from '../../mail/store/engine/types.ts';
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
    let held = 0;
    for (const one of mode === 'frozen' ? line : []) {
      if (one.sent === 0) continue;
      const credential = publicId('token', one.id);
      held += await holdAgentMail(tx, { tenant: organization, credential }, stamp);
    }
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
    return { held: stopped ? await holdAgentMail(tx, { tenant: organization, credential: null }, stamp) : 0 };
  },
);
