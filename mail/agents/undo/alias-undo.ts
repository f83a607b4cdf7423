import { type RuleChange, type RuleUndoRequest, type RuleUndoResult, undoRules } from './rule-changes.ts';
import { isAlias, MAX_ALIASES, numberOfAliases, removeAlias } from '../../store/address/alias.ts';
import { areTenantAccounts, setAliasTargets, type StoredAlias, storedAlias } from '../../store/address/stored-alias.ts';
import { command, type Read, type Stamp, type Write } from '../../store/engine/types.ts';

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
  if (now === undefined && !(await fits(tx, before))) return false;
  await write(tx, before);
  await setAliasTargets(tx, id, accounts);
  return true;
}

function isSame(now: StoredAlias | undefined, then: StoredAlias | null): boolean {
  if (now === undefined || then === null) return now === undefined && then === null;
  return (['note', 'expires_at', 'max_messages', 'accounts'] as const).every((name) => now[name] === then[name]);
}

/** Tests if its domain still exists, its address is free, and the limit is not reached. */
async function fits(rx: Read, { tenant, domain_id: domain, key }: StoredAlias): Promise<boolean> {
  const mine = await rx.get('SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?', domain, tenant);
  const taken = await rx.get('SELECT 1 AS there FROM address WHERE key = ? AND domain_id = ?', key, domain);
  if (mine === undefined || taken !== undefined || (await isAlias(rx, domain, key))) return false;
  return (await numberOfAliases(rx, tenant)) < MAX_ALIASES;
}

/** Keeps the count of messages received meanwhile. */
async function write(tx: Write, row: StoredAlias): Promise<void> {
  await tx.run(
    `INSERT INTO alias (id, tenant, domain_id, key, wildcard, head, tail, note, expires_at, max_messages, used, used_at, first_from,
       created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET note = excluded.note, expires_at = excluded.expires_at, max_messages = excluded.max_messages`,
    row.id,
    row.tenant,
    row.domain_id,
    row.key,
    row.wildcard,
    row.head,
    row.tail,
    row.note,
    row.expires_at,
    row.max_messages,
    row.used,
    row.used_at,
    row.first_from,
    row.created_at,
  );
}
