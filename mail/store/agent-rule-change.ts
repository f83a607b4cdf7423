import type { Read, Stamp, Write } from './engine/types.ts';

/** Of one tenant; older ones make room. */
const MOST_RULE_CHANGES = 5_000;
/** Looked at by one command. */
export const MOST_UNDONE = 200;

/** What is written down: rules, and as such the keys and passwords that were made. */
export type RuleKind = 'alias' | 'api-key' | 'app-password' | 'sender-rule' | 'forwarder' | 'template' | 'webhook';

/** A rule before and after; null: there was none. */
export interface RuleChange<T> {
  before: T | null;
  after: T | null;
}

/** Writes down what an agent did to a rule, in the commit in which it does it. `by` null or undefined: a person. */
export async function noteRuleChange(
  tx: Write,
  about: { tenant: number; by: string | null | undefined; what: RuleKind },
  { before, after }: RuleChange<object>,
  stamp: Stamp,
): Promise<void> {
  const { tenant, by, what } = about;
  if (typeof by !== 'string') return;
  await tx.run(
    'INSERT INTO agent_rule_change (tenant, who, at, what, before, after) VALUES (?, ?, ?, ?, ?, ?)',
    tenant,
    by,
    stamp.now,
    what,
    before === null ? null : JSON.stringify(before),
    after === null ? null : JSON.stringify(after),
  );
  await tx.run(
    // Who could push these out with changes of rules would keep a way in that nobody undoes.
    `DELETE FROM agent_rule_change WHERE tenant = ?1 AND what NOT IN ('api-key', 'app-password') AND id <=
       (SELECT id FROM agent_rule_change WHERE tenant = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
    tenant,
    MOST_RULE_CHANGES,
  );
}

/** Which changes of rules are undone. */
export interface RulesToUndo {
  tenant: number;
  who: string;
  /** ms UTC. */
  since: number;
}

export interface RulesUndone {
  undone: number;
  /** Rules that somebody else has changed since. */
  kept: number;
}

/**
 * Undoes changes of one kind, the newest first; `undo` puts one back and answers whether it could. What was undone is
 * forgotten.
 */
export async function undoRules<T>(
  tx: Write,
  { tenant, who, since }: RulesToUndo,
  what: RuleKind,
  undo: (change: RuleChange<T>) => Promise<boolean>,
): Promise<RulesUndone> {
  const done: RulesUndone = { undone: 0, kept: 0 };
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
  { tenant, who, since, what }: RulesToUndo & { what: RuleKind },
): Promise<(RuleChange<T> & { id: number })[]> {
  const rows = await rx.all<{ id: number; before: string | null; after: string | null }>(
    `SELECT id, before, after FROM agent_rule_change
     WHERE tenant = ? AND who = ? AND at >= ? AND what = ? ORDER BY id DESC LIMIT ? + 0`,
    tenant,
    who,
    since,
    what,
    MOST_UNDONE,
  );
  const read = (json: string | null): T | null => (json === null ? null : (JSON.parse(json) as T));
  return rows.map(({ id, before, after }) => ({ id, before: read(before), after: read(after) }));
}
