import { lookup } from '../../mail/store/engine/types.ts';

/** A published DKIM key. */
export interface PublishedKey {
  selector: string;
  algorithm: 'rsa-sha256' | 'ed25519-sha256';
  /** Text of its TXT record. */
  text: string;
  state: 'signs' | 'waits' | 'retired';
  /** ms UTC. */
  retiredAt: number | null;
}

type KeyColumns = { selector: string; algorithm: string; public: string; state: number; retired_at: number | null };

/** Every key of a domain, by selector. */
export const publishedKeys = lookup(
  'published-keys',
  async (rx, input: { domain: number }): Promise<PublishedKey[]> => {
    const rows = await rx.all<KeyColumns>(
      'SELECT selector, algorithm, public, state, retired_at FROM dkim_key WHERE domain_id = ? ORDER BY selector',
      input.domain,
    );
    return rows.map((row) => ({
      selector: row.selector,
      algorithm: row.algorithm as PublishedKey['algorithm'],
      text: row.public,
      state: row.state === 1 ? 'signs' : row.state === 0 ? 'waits' : 'retired',
      retiredAt: row.retired_at,
    }));
  },
);

/** Text at a selector of a domain, for the name server. */
export const keyText = lookup(
  'key-text',
  async (rx, input: { domain: number; selector: string }): Promise<string | undefined> => {
    const row = await rx.get<{ public: string }>(
      'SELECT public FROM dkim_key WHERE domain_id = ? AND selector = ?',
      input.domain,
      input.selector,
    );
    return row?.public;
  },
);

/**
 * Delegation of a domain to this box: none, by the box's name, by the claim's own server name, or both. domain_setup.managed
 * stores the index in this list.
 */
export const DELEGATIONS = ['none', 'box', 'own', 'both'] as const;
export type Delegation = (typeof DELEGATIONS)[number];

/** Claim that this box serves for a name, with its delegation; a verified one goes first. */
export const managedDomain = lookup(
  'managed-domain',
  async (rx, input: { name: string }): Promise<{ id: number; delegation: Delegation } | undefined> => {
    const row = await rx.get<{ id: number; managed: number }>(
      `SELECT d.id, s.managed FROM domain d JOIN domain_setup s ON s.domain_id = d.id
       WHERE d.name = ? AND s.managed <> 0 ORDER BY d.state DESC, d.id LIMIT 1`,
      input.name,
    );
    return row && { id: row.id, delegation: DELEGATIONS[row.managed] ?? 'none' };
  },
);

/** Next served claim by id. */
export const nextManaged = lookup(
  'next-managed',
  async (rx, input: { after: number }): Promise<{ id: number; name: string } | undefined> =>
    rx.get<{ id: number; name: string }>(
      `SELECT d.id, d.name FROM domain d JOIN domain_setup s ON s.domain_id = d.id
       WHERE d.id > ? AND s.managed <> 0 ORDER BY d.id LIMIT 1`,
      input.after,
    ),
);

/** Number of mailbox addresses of a domain. */
export const countMailboxes = lookup('count-mailboxes', async (rx, input: { domain: number }): Promise<number> => {
  const row = await rx.get<{ n: number }>(
    `SELECT count(*) AS n FROM address WHERE domain_id = ? AND kind = 'mailbox'`,
    input.domain,
  );
  return row?.n ?? 0;
});

/** Verified domain with the oldest check, if that was before `before` (ms UTC). */
export const nextToCheck = lookup(
  'next-to-check',
  async (rx, input: { before: number }): Promise<{ id: number; tenant: number } | undefined> =>
    rx.get<{ id: number; tenant: number }>(
      `SELECT d.id, d.tenant FROM domain d JOIN domain_setup s ON s.domain_id = d.id
       WHERE d.state = 1 AND coalesce(s.last_checked_at, d.verified_at) < ?
       ORDER BY coalesce(s.last_checked_at, d.verified_at) LIMIT 1`,
      input.before,
    ),
);

/** Domains with keys that await their first sighting, or that were retired long ago. */
export const keysInMotion = lookup(
  'keys-in-motion',
  async (rx, input: { retiredBefore: number }): Promise<{ domain: number; tenant: number; waits: boolean }[]> => {
    const rows = await rx.all<{ id: number; tenant: number; waits: number }>(
      `SELECT d.id, d.tenant, max(k.state = 0) AS waits FROM dkim_key k JOIN domain d ON d.id = k.domain_id
       WHERE d.state = 1 AND (k.state = 0 OR k.state = 2 AND k.retired_at <= ?) GROUP BY d.id LIMIT 100`,
      input.retiredBefore,
    );
    return rows.map((row) => ({ domain: row.id, tenant: row.tenant, waits: row.waits === 1 }));
  },
);
