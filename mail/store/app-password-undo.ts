import { MOST_UNDONE, type RulesToUndo, undoRules } from './agent-rule-change.ts';
import { removeAppPassword } from './credential.ts';
import { command } from './engine/types.ts';

/** An app password by its row. */
export interface MadePassword {
  id: number;
  account: number;
}

/** Revokes a slice of the app passwords that an agent made; the caller ends the sessions that were opened with them. */
export const undoAppPasswords = command(
  'undo-app-passwords',
  async (tx, input: RulesToUndo, stamp): Promise<{ revoked: MadePassword[]; more: boolean }> => {
    const revoked: MadePassword[] = [];
    const { undone } = await undoRules<MadePassword>(tx, input, 'app-password', async ({ after }) => {
      if (after !== null && (await removeAppPassword.run(tx, after, stamp)).kind === 'removed') revoked.push(after);
      return true;
    });
    return { revoked, more: undone === MOST_UNDONE };
  },
);
