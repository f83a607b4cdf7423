import type { RuleUndoRequest } from '../../mail/agents/undo/rule-changes.ts';
import { command, type Read } from '../../mail/store/engine/types.ts';
import { publicId } from '../core/ids.ts';
import { revokeTokens } from './commands.ts';

type CreatedToken = {
  id: number;
  created_by: string;
  created_at: number;
  revoked_at: number | null;
  expires_at: number | null;
};

/**
 * Revokes the tokens that an actor created since a time, and transitively the tokens created by those. Returns the number
 * revoked, and `makers`: the actor and tokens, ended ones too, that created keys or passwords, which the caller revokes.
 */
export const undoTokens = command(
  'undo-tokens',
  async (tx, { tenant, who, since }: RuleUndoRequest, stamp): Promise<{ ended: number; makers: string[] }> => {
    const all = await tx.all<CreatedToken>(
      'SELECT id, created_by, created_at, revoked_at, expires_at FROM token WHERE organization_id = ? ORDER BY id',
      tenant,
    );
    const line = new Map<string, CreatedToken>();
    // Ordered by row, each token comes after its creator.
    for (const one of all) {
      const isOwn = one.created_by === who && one.created_at >= since;
      if (isOwn || line.has(one.created_by)) line.set(publicId('token', one.id), one);
    }
    const holding = [...line.values()].filter((one) => holds(one, stamp.now));
    for (const { id } of holding) await revokeTokens(tx, id, stamp);
    const makers = await makersOf(tx, { tenant, since });
    return { ended: holding.length, makers: makers.filter((one) => one === who || line.has(one)) };
  },
);

async function makersOf(rx: Read, { tenant, since }: Omit<RuleUndoRequest, 'who'>): Promise<string[]> {
  const rows = await rx.all<{ who: string }>(
    `SELECT DISTINCT actor AS who FROM agent_rule_change WHERE tenant = ? AND at >= ? AND kind IN ('api-key', 'app-password')`,
    tenant,
    since,
  );
  return rows.map((row) => row.who);
}

function holds({ revoked_at: revokedAt, expires_at: expiresAt }: CreatedToken, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}
