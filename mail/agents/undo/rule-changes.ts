import type { Read, Stamp, Write } from '../../store/engine/types.ts';

/** Changes of one tenant; older ones are dropped. */
const MAX_RULE_CHANGES = 5_000;
/** Changes undone by one command. */
export const MAX_UNDONE = 200;

/** Kinds of recorded changes: rules, and created keys and passwords. */
export type RuleKind = 'alias' | 'api-key' | 'app-password' | 'sender-rule' | 'forwarder' | 'template' | 'webhook';

/** A rule before and after; null: it did not exist. */
export interface RuleChange<T> {
  before: T | null;
  after: T | null;
}

/** Records an agent's change of a rule, in its own commit. `by` null or undefined: a person. */
export async function onRuleChange(
  tx: Write,
  about: { tenant: number; by: string | null | undefined; what: string },
  { before, after }: RuleChange<object>,
  stamp: Stamp,
): Promise<void> {
  const { tenant, by, what } = about;
  if (typeof by !== 'string') return;
  await tx.run(
    'INSERT INTO agent_rule_change (tenant, actor, at, kind, before, after) VALUES (?, ?, ?, ?, ?, ?)',
    tenant,
    by,
    stamp.now,
    what,
    before === null ? null : JSON.stringify(before),
    after === null ? null : JSON.stringify(after),
  );
  await tx.run(
    // Keeps created keys and passwords: an agent could push them out with many rule changes and keep its access.
    `DELETE FROM agent_rule_change WHERE tenant = ?1 AND kind NOT IN ('api-key', 'app-password') AND id <=
       (SELECT id FROM agent_rule_change WHERE tenant = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
    tenant,
    MAX_RULE_CHANGES,
  );
}

/** Selects the changes to undo. */
export interface RuleUndoRequest {
  tenant: number;
  who: string;
  /** ms UTC. */
  since: number;
}

export interface RuleUndoResult {
  undone: number;
  /** Rules that somebody else has changed since. */
  kept: number;
}

/** Undoes changes of one kind, newest first; `undo` reverts one and returns if it could. Undone changes are deleted. */
export async function undoRules<T>(
  tx: Write,
  { tenant, who, since }: RuleUndoRequest,
  what: RuleKind,
  undo: (change: RuleChange<T>) => Promise<boolean>,
): Promise<RuleUndoResult> {
  const done: RuleUndoResult = { undone: 0, kept: 0 };
  for (const { id, ...change } of await changes<T>(tx, { tenant, who, since, what })) {
    if (await undo(change)) {
      await tx.run('DELETE FROM agent_rule_change WHERE id = ?', id);
      done.undone++;
    } else done.kept++;
  }
  return done;
}

async function changes<T>(
  rx: Read,
  { tenant, who, since, what }: RuleUndoRequest & { what: RuleKind },
): Promise<(RuleChange<T> & { id: number })[]> {
  const rows = await rx.all<{ id: number; before: string | null; after: string | null }>(
    `SELECT id, before, after FROM agent_rule_change
     WHERE tenant = ? AND actor = ? AND at >= ? AND kind = ? ORDER BY id DESC LIMIT ? + 0`,
    tenant,
    who,
    since,
    what,
    MAX_UNDONE,
  );
  const read = (json: string | null): T | null => (json === null ? null : (JSON.parse(json) as T));
  return rows.map(({ id, before, after }) => ({ id, before: read(before), after: read(after) }));
}
