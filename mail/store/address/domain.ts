import { deleteDomainAliases } from './alias.ts';
import { command, lookup, type Write } from '../engine/types.ts';

export interface DomainInfo {
  id: number;
  tenant: number;
  name: string;
  verified: boolean;
  /** ms UTC. */
  createdAt: number;
  verifiedAt: number | null;
  /** Time since which sending is paused, while receiving continues. */
  pausedAt: number | null;
}

/** Adds a domain claim of a tenant. Idempotent. */
export const addDomain = command(
  'add-domain',
  async (
    tx,
    input: { tenant: number; name: string; verified: boolean },
    stamp,
  ): Promise<{ kind: 'added' | 'exists'; id: number } | { kind: 'taken' }> => {
    const mine = await tx.get<{ id: number }>(
      'SELECT id FROM domain WHERE tenant = ? AND name = ?',
      input.tenant,
      input.name,
    );
    if (mine !== undefined) return { kind: 'exists', id: mine.id };
    const proved = await tx.get('SELECT 1 AS there FROM domain WHERE name = ? AND state = 1', input.name);
    if (input.verified && proved !== undefined) return { kind: 'taken' };
    const { id } = await tx.run(
      'INSERT INTO domain (tenant, name, state, created_at, verified_at) VALUES (?, ?, ?, ?, ?)',
      input.tenant,
      input.name,
      Number(input.verified),
      stamp.now,
      input.verified ? stamp.now : null,
    );
    return { kind: 'added', id };
  },
);

/** Marks a domain as verified, which activates its mail. */
export const verifyDomain = command(
  'verify-domain',
  async (tx, input: { id: number }, stamp): Promise<'verified' | 'missing' | 'taken'> => {
    const row = await tx.get<{ name: string }>('SELECT name FROM domain WHERE id = ?', input.id);
    if (row === undefined) return 'missing';
    const other = await tx.get(
      'SELECT 1 AS there FROM domain WHERE name = ? AND state = 1 AND id <> ?',
      row.name,
      input.id,
    );
    if (other !== undefined) return 'taken';
    await tx.run(
      'UPDATE domain SET state = 1, verified_at = coalesce(verified_at, ?) WHERE id = ?',
      stamp.now,
      input.id,
    );
    return 'verified';
  },
);

/** Pauses or resumes sending of a domain. */
export async function pauseDomain(tx: Write, id: number, at: number | null): Promise<void> {
  await tx.run('UPDATE domain SET paused_at = ? WHERE id = ?', at, id);
}

/**
 * Deletes a domain with its keys and aliases. Whoever adds it again gets another id, other keys, and must verify it
 * anew. Refused while addresses remain on it.
 */
export async function dropDomain(tx: Write, id: number): Promise<{ kind: 'removed' } | { kind: 'addresses' }> {
  const address = await tx.get('SELECT 1 AS there FROM address WHERE domain_id = ? LIMIT 1', id);
  if (address !== undefined) return { kind: 'addresses' };
  await deleteDomainAliases(tx, id);
  await tx.run('DELETE FROM dkim_key WHERE domain_id = ?', id);
  await tx.run('DELETE FROM domain WHERE id = ?', id);
  return { kind: 'removed' };
}

type Columns = {
  id: number;
  tenant: number;
  name: string;
  state: number;
  created_at: number;
  verified_at: number | null;
  paused_at: number | null;
};

function infoOf(row: Columns): DomainInfo {
  return {
    id: row.id,
    tenant: row.tenant,
    name: row.name,
    verified: row.state === 1,
    createdAt: row.created_at,
    verifiedAt: row.verified_at,
    pausedAt: row.paused_at,
  };
}

export const listDomains = lookup('list-domains', async (rx): Promise<DomainInfo[]> => {
  const rows = await rx.all<Columns>('SELECT * FROM domain ORDER BY name');
  return rows.map(infoOf);
});

/** The domains of one tenant. */
export const domainsOf = lookup('domains-of', async (rx, input: { tenant: number }): Promise<DomainInfo[]> => {
  const rows = await rx.all<Columns>('SELECT * FROM domain WHERE tenant = ? ORDER BY id', input.tenant);
  return rows.map(infoOf);
});

/** One domain of a tenant. */
export const domainInfo = lookup(
  'domain-of',
  async (rx, input: { tenant: number; id: number }): Promise<DomainInfo | undefined> => {
    const row = await rx.get<Columns>('SELECT * FROM domain WHERE id = ? AND tenant = ?', input.id, input.tenant);
    return row && infoOf(row);
  },
);

/**
 * Reports whether this server receives mail for a domain: it is verified, and its records were correct at the last
 * check.
 */
export const receives = lookup('receives', async (rx, input: { name: string }): Promise<boolean> => {
  const found = 'SELECT 1 AS there FROM domain WHERE name = ? AND state = 1 AND paused_at IS NULL';
  return (await rx.get(found, input.name)) !== undefined;
});

/** Those of the names that are verified domains of this server. */
export const hostedDomains = lookup(
  'hosted-among',
  async (rx, input: { names: readonly string[] }): Promise<string[]> => {
    const rows = await rx.all<{ name: string }>(
      `SELECT name FROM domain WHERE state = 1 AND name IN (SELECT value FROM json_each(?, '$'))`,
      JSON.stringify(input.names),
    );
    return rows.map((row) => row.name);
  },
);

export interface DkimKeyRow {
  domain: number;
  tenant: number;
  selector: string;
  algorithm: string;
  sealed: Uint8Array;
  public: string;
}

/** DKIM keys of a domain name, of the tenant that verified it. */
export const dkimKeys = lookup('dkim-keys', async (rx, input: { name: string }): Promise<DkimKeyRow[]> => {
  const rows = await rx.all<{
    domain_id: number;
    tenant: number;
    selector: string;
    algorithm: string;
    private: Uint8Array;
    public: string;
  }>(
    `SELECT k.domain_id, d.tenant, k.selector, k.algorithm, k.private, k.public FROM dkim_key k JOIN domain d ON d.id = k.domain_id
     WHERE d.name = ? AND d.state = 1 AND k.state = 1 ORDER BY k.algorithm DESC`,
    input.name,
  );
  return rows.map((row) => ({
    domain: row.domain_id,
    tenant: row.tenant,
    selector: row.selector,
    algorithm: row.algorithm,
    sealed: row.private,
    public: row.public,
  }));
});
