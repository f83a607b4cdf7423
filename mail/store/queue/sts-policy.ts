import { command, lookup, query } from '../engine/types.ts';

/** A fetched MTA-STS policy. RFC 8461 3.2. */
export interface StsPolicy {
  /** Id of the TXT record. */
  id: string;
  mode: 'enforce' | 'testing' | 'none';
  /** MX host names in lower case, or `*.` and a name. */
  mx: readonly string[];
  /** Lines of the policy, for TLS reports. */
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

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
/** Time without mail after which a policy is only fetched on demand. */
const KEEP_FRESH_MS = 30 * DAY_MS;
const SLICE = 200;

/** The unexpired policy of a domain, and whether its use should be recorded. */
export const stsPolicyOf = lookup(
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

/** Stores a fetched policy, replacing an older one. */
export const storeStsPolicy = command(
  'store-sts-policy',
  async (tx, { domain, policy }: { domain: string; policy: StsPolicy }, stamp): Promise<void> => {
    const { id, mode, mx, strings, fetchedAt, expiresAt } = policy;
    await tx.run(
      `INSERT INTO sts_policy (domain, id, mode, mx, strings, fetched_at, expires_at, refresh_at, used_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (domain) DO UPDATE SET id = excluded.id, mode = excluded.mode, mx = excluded.mx,
         strings = excluded.strings, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at,
         refresh_at = excluded.refresh_at, failures = 0`,
      domain,
      id,
      mode,
      JSON.stringify(mx),
      JSON.stringify(strings),
      fetchedAt,
      expiresAt,
      // RFC 8461 3.3, 10.2: refreshed daily, which shortens the effect of an attacker.
      fetchedAt + DAY_MS,
      stamp.now,
    );
  },
);

export const touchStsPolicy = command(
  'touch-sts-policy',
  async (tx, input: { domain: string }, stamp): Promise<void> => {
    await tx.run('UPDATE sts_policy SET used_at = ? WHERE domain = ?', stamp.now, input.domain);
  },
);

/** Defers the next fetch after a failure: in one hour, two, four, up to a day. */
export const deferStsPolicy = command(
  'defer-sts-policy',
  async (tx, input: { domain: string }, stamp): Promise<void> => {
    await tx.run(
      `UPDATE sts_policy SET refresh_at = ?1 + min(?2, ?3 << min(failures, 10)), failures = failures + 1 WHERE domain = ?4`,
      stamp.now,
      DAY_MS,
      HOUR_MS,
      input.domain,
    );
  },
);

/** Domains in use whose policy is due for a refresh; recent failures come last. */
export const staleStsPolicies = query(
  'stale-sts-policies',
  async (rx, { now, limit }: { now: number; limit: number }): Promise<string[]> => {
    const used = now - KEEP_FRESH_MS;
    const fine = await rx.all<{ domain: string }>(
      `SELECT domain FROM sts_policy WHERE failures = 0 AND refresh_at < ?1 AND expires_at > ?1 AND used_at > ?2
       ORDER BY refresh_at LIMIT ?3`,
      now,
      used,
      limit,
    );
    const failed = await rx.all<{ domain: string }>(
      `SELECT domain FROM sts_policy WHERE failures > 0 AND refresh_at < ?1 AND expires_at > ?1 AND used_at > ?2
       ORDER BY refresh_at LIMIT ?3`,
      now,
      used,
      limit - fine.length,
    );
    return [...fine, ...failed].map((row) => row.domain);
  },
);

/** Purges a slice of expired policies. Returns whether there are more. */
export const purgeStsPolicies = command(
  'purge-sts-policies',
  async (tx, _input: undefined, stamp): Promise<boolean> => {
    const { changes } = await tx.run(
      'DELETE FROM sts_policy WHERE domain IN (SELECT domain FROM sts_policy WHERE expires_at < ? LIMIT ?)',
      stamp.now,
      SLICE,
    );
    return changes === SLICE;
  },
);
