import type { Named } from '../policy/sender-rules.ts';
import { noteRuleChange, type RulesToUndo, type RulesUndone, undoRules } from './agent-rule-change.ts';
import { command, query, type Read, type Write } from './engine/types.ts';

/** Of one tenant. */
export const MOST_SENDER_RULES = 10_000;

export interface NewSenderRule {
  tenant: number;
  /** Null: for all mailboxes of the tenant, and for its programs. */
  account: number | null;
  /** About recipients of mail that leaves. */
  outward: boolean;
  kind: 'allow' | 'block';
  pattern: string;
  note: string;
}

/**
 * Adds a rule; one about the same is changed, so that there are never two that contradict each other. `by` is the agent
 * that does it.
 */
export const addSenderRule = command(
  'add-sender-rule',
  async (
    tx,
    input: NewSenderRule & { by?: string | null },
    stamp,
  ): Promise<{ kind: 'added'; id: number } | { kind: 'too-many' | 'no-account' }> => {
    const { tenant, account, outward, kind, pattern, note } = input;
    if (account !== null && !(await isOf(tx, tenant, account))) return { kind: 'no-account' };
    if (!(await hasRoomFor(tx, input))) return { kind: 'too-many' };
    const before = await sameRule(tx, input);
    const row = await tx.get<{ id: number }>(
      `INSERT INTO sender_rule (tenant, account_id, outward, kind, pattern, note, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant, outward, pattern, ifnull(account_id, 0))
         DO UPDATE SET kind = excluded.kind, note = excluded.note
       RETURNING id`,
      tenant,
      account,
      Number(outward),
      kind,
      pattern,
      note,
      stamp.now,
    );
    if (row === undefined) throw new Error('a rule was written and has no row');
    const after = (await sameRule(tx, input)) ?? null;
    await noteRuleChange(tx, { tenant, by: input.by, what: 'sender-rule' }, { before: before ?? null, after }, stamp);
    return { kind: 'added', id: row.id };
  },
);

async function isOf(rx: Read, tenant: number, account: number): Promise<boolean> {
  const row = await rx.get(
    'SELECT 1 AS there FROM account WHERE id = ? AND tenant = ? AND state <> 2',
    account,
    tenant,
  );
  return row !== undefined;
}

/** Whether the tenant may have one more, or has this one already. */
async function hasRoomFor(rx: Read, { tenant, outward, pattern, account }: NewSenderRule): Promise<boolean> {
  const count = await rx.get<{ n: number }>('SELECT count(*) AS n FROM sender_rule WHERE tenant = ?', tenant);
  if ((count?.n ?? 0) < MOST_SENDER_RULES) return true;
  return (await sameRule(rx, { tenant, outward, pattern, account })) !== undefined;
}

export const removeSenderRule = command(
  'remove-sender-rule',
  async (
    tx,
    { tenant, id, by }: { tenant: number; id: number; by?: string | null },
    stamp,
  ): Promise<{ kind: 'removed' | 'missing' }> => {
    const before = await tx.get<RuleRow>('DELETE FROM sender_rule WHERE id = ? AND tenant = ? RETURNING *', id, tenant);
    if (before === undefined) return { kind: 'missing' };
    await noteRuleChange(tx, { tenant, by, what: 'sender-rule' }, { before, after: null }, stamp);
    return { kind: 'removed' };
  },
);

/** A rule as its row has it. */
interface RuleRow extends Record<string, number | string | null> {
  id: number;
  tenant: number;
  account_id: number | null;
  outward: number;
  kind: 'allow' | 'block';
  pattern: string;
  note: string;
  created_at: number;
}

/** The rule about the same, if there is one. */
function sameRule(
  rx: Read,
  { tenant, outward, pattern, account }: Pick<NewSenderRule, 'tenant' | 'outward' | 'pattern' | 'account'>,
): Promise<RuleRow | undefined> {
  return rx.get<RuleRow>(
    'SELECT * FROM sender_rule WHERE tenant = ? AND outward = ? AND pattern = ? AND ifnull(account_id, 0) = ?',
    tenant,
    Number(outward),
    pattern,
    account ?? 0,
  );
}

/** Undoes what an agent did to rules of a tenant, where nobody has changed them since. */
export const undoSenderRules = command('undo-sender-rules', (tx, input: RulesToUndo): Promise<RulesUndone> =>
  undoRules<RuleRow>(tx, input, 'sender-rule', ({ before, after }) => putBack(tx, before, after)),
);

async function putBack(tx: Write, before: RuleRow | null, after: RuleRow | null): Promise<boolean> {
  const about = before ?? after;
  if (about === null) return true;
  const { tenant, outward, pattern, account_id: account } = about;
  const now = await sameRule(tx, { tenant, outward: outward === 1, pattern, account });
  if (now?.kind !== after?.kind || now?.note !== after?.note) return false;
  if (now !== undefined) await tx.run('DELETE FROM sender_rule WHERE id = ?', now.id);
  if (before === null) return true;
  if (account !== null && !(await isOf(tx, tenant, account))) return false;
  await tx.run(
    `INSERT INTO sender_rule (id, tenant, account_id, outward, kind, pattern, note, created_at)
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

/** A rule that may be about somebody. */
export interface FoundRule {
  kind: 'allow' | 'block';
  pattern: string;
  account: number | null;
}

/** The rules of an account and its tenant with one of these patterns, about who writes to it. */
export const senderRules = query(
  'sender-rules',
  async (rx, input: { account: number; patterns: readonly string[] }): Promise<FoundRule[]> => {
    const row = await rx.get<{ tenant: number }>('SELECT tenant FROM account WHERE id = ?', input.account);
    return row === undefined ? [] : found(rx, { ...input, tenant: row.tenant, outward: false });
  },
);

/** Whether an account or its tenant allows somebody by a name of this kind. */
export const allowsByName = query(
  'allows-by-name',
  async (rx, { account, named }: { account: number; named: Named }): Promise<boolean> => {
    const rule = await rx.get(
      `SELECT 1 AS there FROM account a JOIN sender_rule r ON r.tenant = a.tenant AND r.outward = 0
       WHERE a.id = ?1 AND r.kind = 'allow' AND (r.account_id IS NULL OR r.account_id = ?1)
         AND (instr(r.pattern, '@') > 0 OR (?2 <> 'address' AND instr(r.pattern, '/') = 0
           AND (?2 = 'any' OR substr(r.pattern, 1, 2) <> '*.'))) LIMIT 1`,
      account,
      named,
    );
    return rule !== undefined;
  },
);

/** Whether anybody in a tenant has said anything about who writes to them, or (`outward`) to whom they write. */
export async function anyRules(rx: Read, tenant: number, outward: boolean): Promise<boolean> {
  const rule = await rx.get(
    'SELECT 1 AS there FROM sender_rule WHERE tenant = ? AND outward = ? LIMIT 1',
    tenant,
    Number(outward),
  );
  return rule !== undefined;
}

/** The rules with one of these patterns about who writes to these accounts, but for those of the tenant that writes. */
export async function rulesOfOthers(
  rx: Read,
  about: { tenant: number; accounts: readonly number[]; patterns: () => readonly string[] },
): Promise<Map<number, FoundRule[]>> {
  const others = await rx.all<{ id: number; tenant: number }>(
    'SELECT a.id, a.tenant FROM json_each(?) g JOIN account a ON a.id = g.value WHERE a.tenant <> ?',
    JSON.stringify(about.accounts),
    about.tenant,
  );
  const rules = new Map<number, FoundRule[]>();
  for (const { id: account, tenant } of others) {
    if (!(await anyRules(rx, tenant, false))) continue;
    rules.set(account, await found(rx, { tenant, account, outward: false, patterns: about.patterns() }));
  }
  return rules;
}

/** Whether it is worth asking for {@link senderRules} of an account. */
export const hasSenderRules = query('has-sender-rules', async (rx, input: { account: number }): Promise<boolean> => {
  const row = await rx.get<{ tenant: number }>('SELECT tenant FROM account WHERE id = ?', input.account);
  return row !== undefined && anyRules(rx, row.tenant, false);
});

/** The rules with one of these patterns about whom an account, or a program of the tenant (null), writes to. */
export async function recipientRules(
  rx: Read,
  about: { tenant: number; account: number | null; patterns: () => readonly string[] },
): Promise<FoundRule[]> {
  if (!(await anyRules(rx, about.tenant, true))) return [];
  return found(rx, { ...about, patterns: about.patterns(), outward: true });
}

async function found(
  rx: Read,
  about: { tenant: number; account: number | null; outward: boolean; patterns: readonly string[] },
): Promise<FoundRule[]> {
  return rx.all<{ kind: 'allow' | 'block'; pattern: string; account: number | null }>(
    `SELECT kind, pattern, account_id AS account FROM sender_rule
     WHERE tenant = ? AND outward = ? AND pattern IN (SELECT value FROM json_each(?))
       AND (account_id IS NULL OR account_id = ?)`,
    about.tenant,
    Number(about.outward),
    JSON.stringify(about.patterns),
    about.account,
  );
}

export interface StoredSenderRule extends NewSenderRule {
  id: number;
  createdAt: number;
}

/** The rules of a tenant in the order in which they were made, as many as `limit` after the row `after`. */
export const senderRulesOf = query(
  'sender-rules-of',
  async (
    rx,
    input: {
      tenant: number;
      after: number;
      limit: number;
      /** Of these accounts, and with `shared` those of the whole tenant; null: all. */
      accounts: readonly number[] | null;
      shared: boolean;
      outward: boolean | null;
    },
  ): Promise<StoredSenderRule[]> => {
    const rows = await rx.all<{
      id: number;
      tenant: number;
      account_id: number | null;
      outward: number;
      kind: 'allow' | 'block';
      pattern: string;
      note: string;
      created_at: number;
    }>(
      `SELECT * FROM sender_rule WHERE tenant = ?1 AND id > ?2 AND (?3 IS NULL OR outward = ?3)
         AND (?4 IS NULL OR account_id IN (SELECT value FROM json_each(?4)) OR (?5 AND account_id IS NULL))
         AND NOT EXISTS (SELECT 1 FROM account a WHERE a.id = sender_rule.account_id AND a.state = 2)
       ORDER BY id LIMIT ?6`,
      input.tenant,
      input.after,
      input.outward === null ? null : Number(input.outward),
      input.accounts === null ? null : JSON.stringify(input.accounts),
      Number(input.shared),
      input.limit,
    );
    return rows.map(({ account_id: account, outward, created_at: createdAt, ...row }) => ({
      ...row,
      account,
      outward: outward === 1,
      createdAt,
    }));
  },
);

/** One rule of a tenant. */
export const senderRule = query(
  'sender-rule',
  async (rx, input: { tenant: number; id: number }): Promise<StoredSenderRule | undefined> => {
    const [row] = await senderRulesOf.run(rx, {
      tenant: input.tenant,
      after: input.id - 1,
      limit: 1,
      accounts: null,
      shared: true,
      outward: null,
    });
    return row?.id === input.id ? row : undefined;
  },
);
