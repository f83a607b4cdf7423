import { type RuleChange, type RulesToUndo, type RulesUndone, undoRules } from './agent-rule-change.ts';
import { isAlias, MOST_ALIASES, numberOfAliases, removeAlias } from './alias.ts';
import { areOf, lead, type StoredAlias, storedAlias } from './alias-rows.ts';
import { command, type Read, type Stamp, type Write } from './engine/types.ts';

/** Undoes what an agent did to aliases of a tenant, where nobody has changed them since. */
export const undoAliases = command('undo-aliases', (tx, input: RulesToUndo, stamp): Promise<RulesUndone> =>
  undoRules<StoredAlias>(tx, input, 'alias', (change) => putBack(tx, change, stamp)),
);

async function putBack(tx: Write, { before, after }: RuleChange<StoredAlias>, stamp: Stamp): Promise<boolean> {
  const about = before ?? after;
  if (about === null) return true;
  const { tenant, id } = about;
  const now = await storedAlias(tx, tenant, id);
  if (!isSame(now, after)) return false;
  if (before === null) {
    // Somebody writes to it by now, whose mail would be refused.
    if ((now?.used ?? 0) > 0) return false;
    await removeAlias.run(tx, { id, tenant }, stamp);
    return true;
  }
  const accounts = JSON.parse(before.accounts) as number[];
  if (!(await areOf(tx, tenant, accounts))) return false;
  if (now === undefined && !(await fits(tx, before))) return false;
  await write(tx, before);
  await lead(tx, id, accounts);
  return true;
}

function isSame(now: StoredAlias | undefined, then: StoredAlias | null): boolean {
  if (now === undefined || then === null) return now === undefined && then === null;
  return (['note', 'expires_at', 'most', 'accounts'] as const).every((name) => now[name] === then[name]);
}

/** Its domain is still there, nothing else stands at its address, and there is room. */
async function fits(rx: Read, { tenant, domain_id: domain, key }: StoredAlias): Promise<boolean> {
  const mine = await rx.get('SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?', domain, tenant);
  const taken = await rx.get('SELECT 1 AS there FROM address WHERE key = ? AND domain_id = ?', key, domain);
  if (mine === undefined || taken !== undefined || (await isAlias(rx, domain, key))) return false;
  return (await numberOfAliases(rx, tenant)) < MOST_ALIASES;
}

/** What it took meanwhile stays counted. */
async function write(tx: Write, row: StoredAlias): Promise<void> {
  await tx.run(
    `INSERT INTO alias (id, tenant, domain_id, key, wild, head, tail, note, expires_at, most, used, used_at, first_from,
       created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET note = excluded.note, expires_at = excluded.expires_at, most = excluded.most`,
    row.id,
    row.tenant,
    row.domain_id,
    row.key,
    row.wild,
    row.head,
    row.tail,
    row.note,
    row.expires_at,
    row.most,
    row.used,
    row.used_at,
    row.first_from,
    row.created_at,
  );
}
