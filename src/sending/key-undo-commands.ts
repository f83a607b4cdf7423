import { MOST_UNDONE, type RulesToUndo, undoRules } from '../../mail/store/agent-rule-change.ts';
import { command } from '../../mail/store/engine/types.ts';

/** Revokes a slice of the email API keys that an agent made; answers how many still held. */
export const undoApiKeys = command(
  'undo-api-keys',
  async (tx, input: RulesToUndo, stamp): Promise<{ revoked: number; more: boolean }> => {
    let revoked = 0;
    const { undone } = await undoRules<{ id: number }>(tx, input, 'api-key', async ({ after }) => {
      const { changes } = await tx.run(
        'UPDATE api_key SET revoked_at = ? WHERE id = ? AND organization_id = ? AND revoked_at IS NULL',
        stamp.now,
        after?.id ?? 0,
        input.tenant,
      );
      revoked += changes;
      return true;
    });
    return { revoked, more: undone === MOST_UNDONE };
  },
);
