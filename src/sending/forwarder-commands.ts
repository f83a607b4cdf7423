import { command, query, type Read } from '../../mail/store/engine/types.ts';

/** More forwards after one another than anybody means. */
const LONGEST_CHAIN = 32;

export interface NewForwarder {
  organization: number;
  domain: number;
  source: string;
  sourceKey: string;
  destination: string;
  destinationKey: string;
  keepLocal: boolean;
}

export type SetForwarder =
  | { kind: 'set'; id: number; createdAt: number }
  /** Mail would come back; the keys on its way, the source first and last. */
  | { kind: 'loop'; path: string[] }
  | { kind: 'missing' };

/**
 * Sets a forward, or changes whether it keeps a copy. The check for loops is in the same transaction, so that two
 * forwards set at once cannot close a circle.
 */
export const setForwarder = command('set-forwarder', async (tx, input: NewForwarder, stamp): Promise<SetForwarder> => {
  const domain = await tx.get(
    'SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?',
    input.domain,
    input.organization,
  );
  if (domain === undefined) return { kind: 'missing' };
  const path = await wayBack(tx, input);
  if (path !== undefined) return { kind: 'loop', path };
  const row = await tx.get<{ id: number; created_at: number }>(
    `INSERT INTO forwarder (organization_id, domain_id, source, source_key, destination, destination_key, keep_local, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (organization_id, source_key, destination_key) DO UPDATE SET keep_local = excluded.keep_local
     RETURNING id, created_at`,
    input.organization,
    input.domain,
    input.source,
    input.sourceKey,
    input.destination,
    input.destinationKey,
    Number(input.keepLocal),
    stamp.now,
  );
  if (row === undefined) throw new Error('a forwarder was written and has no row');
  return { kind: 'set', id: row.id, createdAt: row.created_at };
});

/**
 * The way from the destination back to the source over forwards that work on this box or are the organization's own. Plus tags do not
 * hide it: mail to a+x@ is forwarded as mail to a@.
 */
async function wayBack(
  rx: Read,
  { organization, sourceKey, destinationKey }: NewForwarder,
): Promise<string[] | undefined> {
  const home = withoutTag(sourceKey);
  const open: string[][] = [[sourceKey, destinationKey]];
  const seen = new Set<string>();
  for (let path = open.shift(); path !== undefined; path = open.shift()) {
    const at = withoutTag(path.at(-1) ?? '');
    if (at === home) return path;
    if (seen.has(at) || path.length > LONGEST_CHAIN) continue;
    seen.add(at);
    const next = await rx.all<{ destination_key: string }>(
      `SELECT f.destination_key FROM forwarder f JOIN domain d ON d.id = f.domain_id
       WHERE f.source_key = ? AND (d.state = 1 OR f.organization_id = ?) LIMIT 100`,
      at,
      organization,
    );
    for (const { destination_key } of next) open.push([...path, destination_key]);
  }
  return undefined;
}

function withoutTag(key: string): string {
  const at = key.lastIndexOf('@');
  const plus = key.indexOf('+');
  return plus > 0 && plus < at ? key.slice(0, plus) + key.slice(at) : key;
}

export const removeForwarder = command(
  'remove-forwarder',
  async (tx, input: { organization: number; id: number }): Promise<{ kind: 'removed' | 'missing' }> => {
    const { changes } = await tx.run(
      'DELETE FROM forwarder WHERE id = ? AND organization_id = ?',
      input.id,
      input.organization,
    );
    return { kind: changes === 1 ? 'removed' : 'missing' };
  },
);

export interface Forwarder {
  id: number;
  organization: number;
  domain: number;
  /** Of the mailbox at the source, else of its domain. */
  project: number | null;
  source: string;
  sourceKey: string;
  destination: string;
  destinationKey: string;
  keepLocal: boolean;
  /** A mailbox of the same organization stands at the source. */
  mailbox: number | null;
  createdAt: number;
}

export const listForwarders = query(
  'list-forwarders',
  async (rx, input: { organization: number }): Promise<Forwarder[]> => {
    const rows = await rx.all<{
      id: number;
      organization_id: number;
      domain_id: number;
      project_id: number | null;
      source: string;
      source_key: string;
      destination: string;
      destination_key: string;
      keep_local: number;
      account_id: number | null;
      created_at: number;
    }>(
      `SELECT f.*, coalesce(m.project_id, s.project_id) AS project_id, a.account_id FROM forwarder f
       LEFT JOIN domain_setup s ON s.domain_id = f.domain_id
       LEFT JOIN address a ON a.key = f.source_key AND a.domain_id = f.domain_id
       LEFT JOIN mailbox_setup m ON m.account_id = a.account_id
       WHERE f.organization_id = ? ORDER BY f.id`,
      input.organization,
    );
    return rows.map((row) => ({
      id: row.id,
      organization: row.organization_id,
      domain: row.domain_id,
      project: row.project_id,
      source: row.source,
      sourceKey: row.source_key,
      destination: row.destination,
      destinationKey: row.destination_key,
      keepLocal: row.keep_local === 1,
      mailbox: row.account_id,
      createdAt: row.created_at,
    }));
  },
);
