import { removeAppPassword } from '../../store/account/credential.ts';
import { command, type Write } from '../../store/engine/types.ts';
import { isTenantAccount, findSameRule, type SenderRuleRow } from '../../store/filter/sender-rule.ts';
import { MAX_UNDONE, type RuleUndoRequest, type RuleUndoResult, undoRules } from './rule-changes.ts';

/** Undoes an agent's changes to sender rules of a tenant, unless somebody changed them since. */
export const undoSenderRules = command('undo-sender-rules', (tx, input: RuleUndoRequest): Promise<RuleUndoResult> =>
  undoRules<SenderRuleRow>(tx, input, 'sender-rule', ({ before, after }) => putBack(tx, before, after)),
);

async function putBack(tx: Write, before: SenderRuleRow | null, after: SenderRuleRow | null): Promise<boolean> {
  const about = before ?? after;
  if (about === null) return true;
  const { tenant, outgoing: outward, pattern, account_id: account } = about;
  const now = await findSameRule(tx, { tenant, outward: outward === 1, pattern, account });
  if (now?.kind !== after?.kind || now?.note !== after?.note) return false;
  if (now !== undefined) await tx.run('DELETE FROM sender_rule WHERE id = ?', now.id);
  if (before === null) return true;
  if (account !== null && !(await isTenantAccount(tx, tenant, account))) return false;
  await tx.run(
    `INSERT INTO sender_rule (id, tenant, account_id, outgoing, kind, pattern, note, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    before.id,
    tenant,
    account,
    outward,
    before.kind,
    pattern,
    before.note,
    before.created_at,
  );
  return true;
}

/** Row of an app password. */
export interface CreatedPassword {
  id: number;
  account: number;
}

/** Revokes a slice of the app passwords that an agent created; the caller ends sessions opened with them. */
export const undoAppPasswords = command(
  'undo-app-passwords',
  async (tx, input: RuleUndoRequest, stamp): Promise<{ revoked: CreatedPassword[]; more: boolean }> => {
    const revoked: CreatedPassword[] = [];
    const { undone } = await undoRules<CreatedPassword>(tx, input, 'app-password', async ({ after }) => {
      if (after !== null && (await removeAppPassword.run(tx, after, stamp)).kind === 'removed') revoked.push(after);
      return true;
    });
    return { revoked, more: undone === MAX_UNDONE };
  },
);
