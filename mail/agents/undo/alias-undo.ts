import { type RuleChange, type RuleUndoRequest, type RuleUndoResult, undoRules } from './rule-changes.ts';
import { removeAlias } from '../../store/address/alias.ts';
import { canRestoreAlias, writeAlias } from '../../store/address/restored-alias.ts';
import { areTenantAccounts, setAliasTargets, type StoredAlias, storedAlias } from '../../store/address/stored-alias.ts';
import { command, type Stamp, type Write } from '../../store/engine/types.ts';

/** Undoes an agent's changes to aliases of a tenant, unless somebody changed them since. */
export const undoAliases = command('undo-aliases', (tx, input: RuleUndoRequest, stamp): Promise<RuleUndoResult> =>
  undoRules<StoredAlias>(tx, input, 'alias', (change) => putBack(tx, change, stamp)),
);

async function putBack(tx: Write, { before, after }: RuleChange<StoredAlias>, stamp: Stamp): Promise<boolean> {
  const about = before ?? after;
  if (about === null) return true;
  const { tenant, id } = about;
  const now = await storedAlias(tx, tenant, id);
  if (!isSame(now, after)) return false;
  if (before === null) {
    // Deleting it would reject mail of people who write to it by now.
    if ((now?.used ?? 0) > 0) return false;
    await removeAlias.run(tx, { id, tenant }, stamp);
    return true;
  }
  const accounts = JSON.parse(before.accounts) as number[];
  if (!(await areTenantAccounts(tx, tenant, accounts))) return false;
  if (now === undefined && !(await canRestoreAlias(tx, before))) return false;
  await writeAlias(tx, before);
  await setAliasTargets(tx, id, accounts);
  return true;
}

function isSame(now: StoredAlias | undefined, then: StoredAlias | null): boolean {
  if (now === undefined || then === null) return now === undefined && then === null;
  return (['note', 'expires_at', 'max_messages', 'accounts'] as const).every((name) => now[name] === then[name]);
}
