import { command, lookup, type Read, type Stamp, type Write } from '../../store/engine/types.ts';

/** Policies of one tenant. */
export const MAX_AGENT_POLICIES = 100;

/** A stored policy. */
export interface StoredAgentPolicy {
  id: number;
  tenant: number;
  name: string;
  preset: string;
  /** JSON. */
  rules: string;
  /** ms UTC. */
  createdAt: number;
  changedAt: number;
}

export interface NewAgentPolicy {
  tenant: number;
  /** Null: a new one. */
  id: number | null;
  name: string;
  preset: string;
  rules: string;
  /** Attached in the same commit. */
  attach: PolicyTarget | null;
}

export type SavedAgentPolicy = { kind: 'saved'; id: number } | { kind: 'missing' | 'name-taken' | 'too-many' };

/** Creates or changes a policy; it applies from the next message on wherever it is attached. */
export const saveAgentPolicy = command(
  'save-agent-policy',
  async (tx, input: NewAgentPolicy, stamp): Promise<SavedAgentPolicy> => {
    const { tenant, name, attach } = input;
    const named = await tx.get<{ id: number }>(
      'SELECT id FROM agent_policy WHERE tenant = ? AND name = ?',
      tenant,
      name,
    );
    if (named !== undefined && named.id !== input.id) return { kind: 'name-taken' };
    if (attach !== null && 'account' in attach && !(await hasAccount(tx, tenant, attach.account))) {
      return { kind: 'missing' };
    }
    const saved =
      input.id === null ? await insert(tx, input, stamp) : await change(tx, { ...input, id: input.id }, stamp);
    if (saved.kind === 'saved' && attach !== null) await attachPolicy(tx, attach, saved.id);
    return saved;
  },
);

async function insert(
  tx: Write,
  { tenant, name, preset, rules }: NewAgentPolicy,
  { now }: Stamp,
): Promise<SavedAgentPolicy> {
  const count = await tx.get<{ n: number }>('SELECT count(*) AS n FROM agent_policy WHERE tenant = ?', tenant);
  if ((count?.n ?? 0) >= MAX_AGENT_POLICIES) return { kind: 'too-many' };
  const { id } = await tx.run(
    'INSERT INTO agent_policy (tenant, name, preset, rules, created_at, changed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)',
    tenant,
    name,
    preset,
    rules,
    now,
  );
  return { kind: 'saved', id };
}

async function change(
  tx: Write,
  { tenant, id, name, preset, rules }: NewAgentPolicy & { id: number },
  { now }: Stamp,
): Promise<SavedAgentPolicy> {
  const { changes } = await tx.run(
    'UPDATE agent_policy SET name = ?, preset = ?, rules = ?, changed_at = ? WHERE id = ? AND tenant = ?',
    name,
    preset,
    rules,
    now,
    id,
    tenant,
  );
  return changes === 1 ? { kind: 'saved', id } : { kind: 'missing' };
}

/** Deletes a policy that is attached to nothing, so that no agent becomes free by it. */
export const removeAgentPolicy = command(
  'remove-agent-policy',
  async (tx, { tenant, id }: { tenant: number; id: number }): Promise<{ kind: 'removed' | 'missing' | 'attached' }> => {
    const attached = await tx.get(
      `SELECT 1 AS there WHERE EXISTS (SELECT 1 FROM agent_policy_account WHERE policy_id = ?1)
         OR EXISTS (SELECT 1 FROM agent_policy_credential WHERE policy_id = ?1)`,
      id,
    );
    const found = await tx.get('SELECT 1 AS there FROM agent_policy WHERE id = ? AND tenant = ?', id, tenant);
    if (found === undefined) return { kind: 'missing' };
    if (attached !== undefined) return { kind: 'attached' };
    await tx.run('DELETE FROM agent_policy WHERE id = ?', id);
    return { kind: 'removed' };
  },
);

/** A mailbox, or a token by its public id. The caller has checked that it is the tenant's. */
export type PolicyTarget = { account: number } | { credential: string };

/** Puts a mailbox or a token under a policy of its tenant in place of its former one; null detaches it. */
export const attachAgentPolicy = command(
  'attach-agent-policy',
  async (
    tx,
    { tenant, policy, target }: { tenant: number; policy: number | null; target: PolicyTarget },
  ): Promise<{ kind: 'attached' | 'detached' | 'missing' }> => {
    if (policy !== null && !(await isOf(tx, tenant, policy))) return { kind: 'missing' };
    if ('account' in target && !(await hasAccount(tx, tenant, target.account))) return { kind: 'missing' };
    await attachPolicy(tx, target, policy);
    return { kind: policy === null ? 'detached' : 'attached' };
  },
);

/** Writes the row of {@link attachAgentPolicy}, for commands that create the target. */
export async function attachPolicy(tx: Write, target: PolicyTarget, policy: number | null): Promise<void> {
  if ('account' in target) {
    await tx.run('DELETE FROM agent_policy_account WHERE account_id = ?', target.account);
    if (policy === null) return;
    await tx.run('INSERT INTO agent_policy_account (account_id, policy_id) VALUES (?, ?)', target.account, policy);
    return;
  }
  await tx.run('DELETE FROM agent_policy_credential WHERE credential = ?', target.credential);
  if (policy === null) return;
  await tx.run('INSERT INTO agent_policy_credential (credential, policy_id) VALUES (?, ?)', target.credential, policy);
}

/** Puts a credential under the policy of its parent, if that is of this tenant. */
export async function inheritPolicy(tx: Write, tenant: number, from: string, to: string): Promise<void> {
  await tx.run(
    `INSERT INTO agent_policy_credential (credential, policy_id)
     SELECT ?3, c.policy_id FROM agent_policy_credential c JOIN agent_policy p ON p.id = c.policy_id
     WHERE c.credential = ?2 AND p.tenant = ?1`,
    tenant,
    from,
    to,
  );
}

async function isOf(rx: Read, tenant: number, id: number): Promise<boolean> {
  return (await rx.get('SELECT 1 AS there FROM agent_policy WHERE id = ? AND tenant = ?', id, tenant)) !== undefined;
}

async function hasAccount(rx: Read, tenant: number, id: number): Promise<boolean> {
  const row = await rx.get('SELECT 1 AS there FROM account WHERE id = ? AND tenant = ? AND state < 2', id, tenant);
  return row !== undefined;
}

type Columns = {
  id: number;
  tenant: number;
  name: string;
  preset: string;
  rules: string;
  created_at: number;
  changed_at: number;
};

/** Policies of a tenant by name, with what each is attached to. */
export const agentPoliciesOf = lookup(
  'agent-policies-of',
  async (
    rx,
    { tenant }: { tenant: number },
  ): Promise<(StoredAgentPolicy & { accounts: number[]; credentials: string[] })[]> => {
    const rows = await rx.all<Columns & { accounts: string; credentials: string }>(
      `SELECT p.*, (SELECT json_group_array(account_id) FROM agent_policy_account WHERE policy_id = p.id) AS accounts,
         (SELECT json_group_array(credential) FROM agent_policy_credential WHERE policy_id = p.id) AS credentials
       FROM agent_policy p WHERE p.tenant = ? ORDER BY p.name`,
      tenant,
    );
    return rows.map((row) => ({
      ...policyOf(row),
      accounts: JSON.parse(row.accounts) as number[],
      credentials: JSON.parse(row.credentials) as string[],
    }));
  },
);

/** Policies of credentials and accounts. */
export async function policiesOver(
  rx: Read,
  { tenant, accounts, credentials }: { tenant: number; accounts: readonly number[]; credentials: readonly string[] },
): Promise<(StoredAgentPolicy & { over: 'token' | 'mailbox' })[]> {
  const rows = await rx.all<Columns & { over: 'token' | 'mailbox' }>(
    `SELECT p.*, 'token' AS over FROM agent_policy_credential c JOIN agent_policy p ON p.id = c.policy_id
       WHERE c.credential IN (SELECT value FROM json_each(?2, '$')) AND p.tenant = ?1
     UNION
     SELECT p.*, 'mailbox' AS over FROM agent_policy_account a JOIN agent_policy p ON p.id = a.policy_id
       WHERE a.account_id IN (SELECT value FROM json_each(?3)) AND p.tenant = ?1
     ORDER BY over DESC, id`,
    tenant,
    JSON.stringify(credentials),
    JSON.stringify(accounts),
  );
  return rows.map((row) => ({ ...policyOf(row), over: row.over }));
}

function policyOf(row: Columns): StoredAgentPolicy {
  const { id, tenant, name, preset, rules } = row;
  return { id, tenant, name, preset, rules, createdAt: row.created_at, changedAt: row.changed_at };
}
