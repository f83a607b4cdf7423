import { AGENT_MODES, type AgentMode } from '../../mail/delivery/agent/types.ts';
import { holdAgentMail } from '../../mail/store/agent-hold.ts';
import { command } from '../../mail/store/engine/types.ts';
import { publicId } from '../ids.ts';

export { AGENT_MODES };

/** Sets how a token may work. One that is frozen has what it sent, and has not left, held until a person lets it go. */
export const setTokenMode = command(
  'set-token-mode',
  async (
    tx,
    input: { organization: number; id: number; mode: AgentMode },
    stamp,
  ): Promise<{ kind: 'set'; held: number } | { kind: 'missing' }> => {
    const { organization, id, mode } = input;
    const { changes } = await tx.run(
      'UPDATE token SET mode = ? WHERE id = ? AND organization_id = ? AND revoked_at IS NULL',
      mode,
      id,
      organization,
    );
    if (changes === 0) return { kind: 'missing' };
    if (mode !== 'frozen') return { kind: 'set', held: 0 };
    const held = await holdAgentMail(tx, { tenant: organization, credential: publicId('token', id) }, stamp);
    return { kind: 'set', held };
  },
);

/** Stops all agents of an organization, or lets them work again as each could before. */
export const stopAgents = command(
  'stop-agents',
  async (tx, { organization, stopped }: { organization: number; stopped: boolean }, stamp): Promise<{ held: number }> => {
    await tx.run(
      'UPDATE organization SET agents_stopped_at = iif(?, coalesce(agents_stopped_at, ?), NULL) WHERE id = ?',
      Number(stopped),
      stamp.now,
      organization,
    );
    return { held: stopped ? await holdAgentMail(tx, { tenant: organization, credential: null }, stamp) : 0 };
  },
);
