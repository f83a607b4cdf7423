import { command, query } from './engine/types.ts';

/** An MTA-STS policy as it was fetched. RFC 8461 3.2. */
export interface StsPolicy {
  /** Of the TXT record that it was fetched for. */
  id: string;
  mode: 'enforce' | 'testing' | 'none';
  /** Names of mail exchangers in lower case, or `*.` and a name. */
  mx: readonly string[];
  /** Its lines, for reports. */
  strings: readonly string[];
  /** ms UTC. */
  fetchedAt: number;
  expiresAt: number;
}

interface Row extends Record<string, string | number> {
  id: string;
  mode: StsPolicy['mode'];
  mx: string;
  strings: string;
  fetched_at: number;
  expires_at: number;
  used_at: number;
}

const DAY_MS = 24 * 3600_000;
/** What was not written to for so long is fetched again when it is needed, not before. */
const KEEP_FRESH_MS = 30 * DAY_MS;
const SLICE = 200;

/** The policy of a domain that still counts at `now`, and whether its use should be noted. */
export const stsPolicyOf = query(
  'sts-policy-of',
  async (rx, input: { domain: string; now: number }): Promise<(StsPolicy & { unused: boolean }) | undefined> => {
    const row = await rx.get<Row>(
      `SELECT id, mode, mx, strings, fetched_at, expires_at, used_at FROM sts_policy WHERE domain = ? AND expires_at > ?`,
      input.domain,
      input.now,
    );
    if (row === undefined) return undefined;
    return {
      id: row.id,
      mode: row.mode,
      mx: JSON.parse(row.mx) as string[],
      strings: JSON.parse(row.strings) as string[],
      fetchedAt: row.fetched_at,
      expiresAt: row.expires_at,
      unused: row.used_at < input.now - DAY_MS,
    };
  },
);

/** Keeps what was fetched in the place of what was known. */
export const keepStsPolicy = command(
  'keep-sts-policy',
  async (tx, { domain, policy }: { domain: string; policy: StsPolicy }, stamp): Promise<void> => {
    const { id, mode, mx, strings, fetchedAt, expiresAt } = policy;
    await tx.run(
      `INSERT INTO sts_policy (domain, id, mode, mx, strings, fetched_at, expires_at, used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (domain) DO UPDATE SET id = excluded.id, mode = excluded.mode, mx = excluded.mx,
         strings = excluded.strings, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at`,
      domain,
      id,
      mode,
      JSON.stringify(mx),
      JSON.stringify(strings),
      fetchedAt,
      expiresAt,
      stamp.now,
    );
  },
);

export const useStsPolicy = command('use-sts-policy', async (tx, input: { domain: string }, stamp): Promise<void> => {
  await tx.run('UPDATE sts_policy SET used_at = ? WHERE domain = ?', stamp.now, input.domain);
});

/** Domains in use whose policy was fetched before `before`, the oldest first. */
export const staleStsPolicies = query(
  'stale-sts-policies',
  async (rx, input: { before: number; now: number; limit: number }): Promise<string[]> => {
    const rows = await rx.all<{ domain: string }>(
      `SELECT domain FROM sts_policy WHERE fetched_at < ? AND expires_at > ? AND used_at > ? ORDER BY fetched_at LIMIT ?`,
      input.before,
      input.now,
      input.now - KEEP_FRESH_MS,
      input.limit,
    );
    return rows.map((row) => row.domain);
  },
);

/** Forgets a slice of the policies that have expired. Answers whether there is more. */
export const forgetStsPolicies = command(
  'forget-sts-policies',
  async (tx, _input: undefined, stamp): Promise<boolean> => {
    const { changes } = await tx.run(
      'DELETE FROM sts_policy WHERE domain IN (SELECT domain FROM sts_policy WHERE expires_at < ? LIMIT ?)',
      stamp.now,
      SLICE,
    );
    return changes === SLICE;
  },
);
