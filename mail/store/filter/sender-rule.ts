import type { NameScope } from '../../policy/sender-rules.ts';
import { command, lookup, query, type Read } from '../engine/types.ts';

/** Limit for one tenant. */
export const MAX_SENDER_RULES = 10_000;

export interface NewSenderRule {
  tenant: number;
  /** Null: all mailboxes and programs of the tenant. */
  account: number | null;
  /** Matches recipients of outgoing mail. */
  outward: boolean;
  kind: 'allow' | 'block';
  pattern: string;
  note: string;
}

/**
 * Adds a rule, or replaces the one with the same scope and pattern, so that rules never contradict each other. `by` is
 * the agent that requests it.
 */
export const addSenderRule = command(
  'add-sender-rule',
  async (
    tx,
    input: NewSenderRule & { by?: string | null },
    stamp,
  ): Promise<{ kind: 'added'; id: number } | { kind: 'too-many' | 'no-account' }> => {
    const { tenant, account, outward, kind, pattern, note } = input;
    if (account !== null && !(await isTenantAccount(tx, tenant, account))) return { kind: 'no-account' };
    if (!(await hasRoomFor(tx, input))) return { kind: 'too-many' };
    const before = await findSameRule(tx, input);
    const row = await tx.get<{ id: number }>(
      `INSERT INTO sender_rule (tenant, account_id, outgoing, kind, pattern, note, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant, outgoing, pattern, ifnull(account_id, 0))
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
    if (row === undefined) throw new Error('failed to read back a sender rule');
    const after = (await findSameRule(tx, input)) ?? null;
    await tx.hooks.onRuleChange(
      tx,
      { tenant, by: input.by, what: 'sender-rule' },
      { before: before ?? null, after },
      stamp,
    );
    return { kind: 'added', id: row.id };
  },
);

export async function isTenantAccount(rx: Read, tenant: number, account: number): Promise<boolean> {
  const row = await rx.get('SELECT 1 AS there FROM account WHERE id = ? AND tenant = ? AND state < 2', account, tenant);
  return row !== undefined;
}

/** Reports whether the tenant is below the limit, or has this rule already. */
async function hasRoomFor(rx: Read, { tenant, outward, pattern, account }: NewSenderRule): Promise<boolean> {
  const count = await rx.get<{ n: number }>('SELECT count(*) AS n FROM sender_rule WHERE tenant = ?', tenant);
  if ((count?.n ?? 0) < MAX_SENDER_RULES) return true;
  return (await findSameRule(rx, { tenant, outward, pattern, account })) !== undefined;
}

export const removeSenderRule = command(
  'remove-sender-rule',
  async (
    tx,
    { tenant, id, by }: { tenant: number; id: number; by?: string | null },
    stamp,
  ): Promise<{ kind: 'removed' | 'missing' }> => {
    const before = await tx.get<SenderRuleRow>(
      'DELETE FROM sender_rule WHERE id = ? AND tenant = ? RETURNING *',
      id,
      tenant,
    );
    if (before === undefined) return { kind: 'missing' };
    await tx.hooks.onRuleChange(tx, { tenant, by, what: 'sender-rule' }, { before, after: null }, stamp);
    return { kind: 'removed' };
  },
);

/** The row of a rule. */
export interface SenderRuleRow extends Record<string, number | string | null> {
  id: number;
  tenant: number;
  account_id: number | null;
  outgoing: number;
  kind: 'allow' | 'block';
  pattern: string;
  note: string;
  created_at: number;
}

/** The rule with the same scope and pattern, if any. */
export function findSameRule(
  rx: Read,
  { tenant, outward, pattern, account }: Pick<NewSenderRule, 'tenant' | 'outward' | 'pattern' | 'account'>,
): Promise<SenderRuleRow | undefined> {
  return rx.get<SenderRuleRow>(
    'SELECT * FROM sender_rule WHERE tenant = ? AND outgoing = ? AND pattern = ? AND ifnull(account_id, 0) = ?',
    tenant,
    Number(outward),
    pattern,
    account ?? 0,
  );
}

/** A rule that may match a sender or recipient. */
export interface MatchedSenderRule {
  kind: 'allow' | 'block';
  pattern: string;
  account: number | null;
}

/** Sender rules of an account and its tenant with one of these patterns. */
export const senderRules = query(
  'sender-rules',
  async (rx, input: { account: number; patterns: readonly string[] }): Promise<MatchedSenderRule[]> => {
    const row = await rx.get<{ tenant: number }>('SELECT tenant FROM account WHERE id = ?', input.account);
    return row === undefined ? [] : findRules(rx, { ...input, tenant: row.tenant, outward: false });
  },
);

/** Reports whether an account or its tenant has an allow rule by a name of this kind. */
export const allowsByName = lookup(
  'allows-by-name',
  async (rx, { account, named }: { account: number; named: NameScope }): Promise<boolean> => {
    const rule = await rx.get(
      `SELECT 1 AS there FROM account a JOIN sender_rule r ON r.tenant = a.tenant AND r.outgoing = 0
       WHERE a.id = ?1 AND r.kind = 'allow' AND (r.account_id IS NULL OR r.account_id = ?1)
         AND (instr(r.pattern, '@') > 0 OR (?2 <> 'address' AND instr(r.pattern, '/') = 0
           AND (?2 = 'any' OR substr(r.pattern, 1, 2) <> '*.'))) LIMIT 1`,
      account,
      named,
    );
    return rule !== undefined;
  },
);

/** Reports whether a tenant has sender rules, or recipient rules (`outward`). */
export async function anyRules(rx: Read, tenant: number, outward: boolean): Promise<boolean> {
  const rule = await rx.get(
    'SELECT 1 AS there FROM sender_rule WHERE tenant = ? AND outgoing = ? LIMIT 1',
    tenant,
    Number(outward),
  );
  return rule !== undefined;
}

/** Sender rules of these accounts with one of these patterns, except those of the sending tenant. */
export async function rulesOfOthers(
  rx: Read,
  about: { tenant: number; accounts: readonly number[]; patterns: () => readonly string[] },
): Promise<Map<number, MatchedSenderRule[]>> {
  const others = await rx.all<{ id: number; tenant: number }>(
    'SELECT a.id, a.tenant FROM json_each(?) g JOIN account a ON a.id = g.value WHERE a.tenant <> ?',
    JSON.stringify(about.accounts),
    about.tenant,
  );
  const rules = new Map<number, MatchedSenderRule[]>();
  for (const { id: account, tenant } of others) {
    if (!(await anyRules(rx, tenant, false))) continue;
    rules.set(account, await findRules(rx, { tenant, account, outward: false, patterns: about.patterns() }));
  }
  return rules;
}

/** Reports whether {@link senderRules} of an account may find any. */
export const hasSenderRules = query('has-sender-rules', async (rx, input: { account: number }): Promise<boolean> => {
  const row = await rx.get<{ tenant: number }>('SELECT tenant FROM account WHERE id = ?', input.account);
  return row !== undefined && anyRules(rx, row.tenant, false);
});

/** Recipient rules with one of these patterns of an account, or of a tenant's programs (null). */
export async function recipientRules(
  rx: Read,
  about: { tenant: number; account: number | null; patterns: () => readonly string[] },
): Promise<MatchedSenderRule[]> {
  if (!(await anyRules(rx, about.tenant, true))) return [];
  return findRules(rx, { ...about, patterns: about.patterns(), outward: true });
}

async function findRules(
  rx: Read,
  about: { tenant: number; account: number | null; outward: boolean; patterns: readonly string[] },
): Promise<MatchedSenderRule[]> {
  return rx.all<{ kind: 'allow' | 'block'; pattern: string; account: number | null }>(
    `SELECT kind, pattern, account_id AS account FROM sender_rule
     WHERE tenant = ? AND outgoing = ? AND pattern IN (SELECT value FROM json_each(?, '$'))
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

/** Rules of a tenant by id, at most `limit` after `after`. */
export const senderRulesOf = lookup(
  'sender-rules-of',
  async (
    rx,
    input: {
      tenant: number;
      after: number;
      limit: number;
      /** Rules of these accounts, and with `shared` those of the whole tenant; null: all. */
      accounts: readonly number[] | null;
      shared: boolean;
      outward: boolean | null;
    },
  ): Promise<StoredSenderRule[]> => {
    const rows = await rx.all<SenderRuleRow>(
      `SELECT * FROM sender_rule WHERE tenant = ?1 AND id > ?2 AND (?3 IS NULL OR outgoing = ?3)
         AND (?4 IS NULL OR account_id IN (SELECT value FROM json_each(?4)) OR (?5 = 1 AND account_id IS NULL))
         AND NOT EXISTS (SELECT 1 FROM account a WHERE a.id = sender_rule.account_id AND a.state >= 2)
       ORDER BY id LIMIT ?6`,
      input.tenant,
      input.after,
      input.outward === null ? null : Number(input.outward),
      input.accounts === null ? null : JSON.stringify(input.accounts),
      Number(input.shared),
      input.limit,
    );
    return rows.map(({ account_id: account, outgoing: outward, created_at: createdAt, ...row }) => ({
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
