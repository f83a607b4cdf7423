import type { RulesToUndo } from '../../mail/store/agent-rule-change.ts';
import { command, type Read } from '../../mail/store/engine/types.ts';
import { publicId } from '../ids.ts';
import { endTokens } from './commands.ts';

type Minted = {
  id: number;
  created_by: string;
  created_at: number;
  revoked_at: number | null;
  expires_at: number | null;
};

/**
 * Ends the tokens that one made since a time, and those that these made, at whatever remove. Answers how many still held,
 * and `makers`: who of all of them, also of those that had ended before, made keys or passwords, which are to go as well.
 */
export const undoTokens = command(
  'undo-tokens',
  async (tx, { tenant, who, since }: RulesToUndo, stamp): Promise<{ ended: number; makers: string[] }> => {
    const all = await tx.all<Minted>(
      'SELECT id, created_by, created_at, revoked_at, expires_at FROM token WHERE organization_id = ? ORDER BY id',
      tenant,
    );
    const line = new Map<string, Minted>();
    // In the order of their rows each comes after the one that made it.
    for (const one of all) {
      const isOwn = one.created_by === who && one.created_at >= since;
      if (isOwn || line.has(one.created_by)) line.set(publicId('token', one.id), one);
    }
    const holding = [...line.values()].filter((one) => holds(one, stamp.now));
    for (const { id } of holding) await endTokens(tx, id, stamp);
    const makers = await makersOf(tx, { tenant, since });
    return { ended: holding.length, makers: makers.filter((one) => one === who || line.has(one)) };
  },
);

async function makersOf(rx: Read, { tenant, since }: Omit<RulesToUndo, 'who'>): Promise<string[]> {
  const rows = await rx.all<{ who: string }>(
    `SELECT DISTINCT who FROM agent_rule_change WHERE tenant = ? AND at >= ? AND what IN ('api-key', 'app-password')`,
    tenant,
    since,
  );
  return rows.map((row) => row.who);
}

function holds({ revoked_at: revokedAt, expires_at: expiresAt }: Minted, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}
