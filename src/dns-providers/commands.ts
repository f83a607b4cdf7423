import { command, lookup } from '../../mail/store/engine/types.ts';
import type { WrittenEntry } from './plan.ts';
import type { OwnedType } from './zone-entry.ts';

/** A connection of a domain to a DNS provider. */
export interface DnsConnection {
  domain: number;
  provider: string;
  zone: string;
  ref: string;
  sealed: Uint8Array;
  connectedAt: number;
  publishedAt: number | null;
  triedAt: number | null;
  error: string | null;
}

type ConnectionColumns = Record<keyof DnsConnection, string | number | null> & { sealed: Uint8Array };

const COLUMNS = `p.domain_id AS domain, p.provider, p.zone, p.ref, p.sealed, p.connected_at AS "connectedAt",
  p.published_at AS "publishedAt", p.tried_at AS "triedAt", p.error`;

/** The connection of a domain. */
export const dnsConnection = lookup(
  'dns-connection',
  async (rx, input: { domain: number }): Promise<DnsConnection | undefined> =>
    (await rx.get<ConnectionColumns>(`SELECT ${COLUMNS} FROM dns_provider p WHERE p.domain_id = ?`, input.domain)) as
      DnsConnection | undefined,
);

/** A domain whose records are at a DNS provider. */
type ConnectedDomain = {
  id: number;
  name: string;
  tenant: number;
  publishedAt: number | null;
  /** Reason why the last access failed. */
  error: string | null;
};

/** Connections of verified and unverified domains, with the name and tenant of the domain. */
export const dnsConnections = lookup(
  'dns-connections',
  async (rx): Promise<(ConnectedDomain & { verified: boolean })[]> => {
    const rows = await rx.all<ConnectedDomain & { state: number }>(
      `SELECT d.id, d.name, d.tenant, d.state, p.published_at AS "publishedAt", p.error
       FROM dns_provider p JOIN domain d ON d.id = p.domain_id ORDER BY d.id`,
    );
    return rows.map(({ state, ...row }) => ({ ...row, verified: state === 1 }));
  },
);

/** Connects a domain, or changes its provider. Records written elsewhere are not ours at the new one. */
export const connectDnsProvider = command(
  'connect-dns-provider',
  async (
    tx,
    input: { domain: number; provider: string; zone: string; ref: string; sealed: Uint8Array },
    stamp,
  ): Promise<{ kind: 'connected' | 'missing' }> => {
    const before = await tx.get<{ provider: string; zone: string }>(
      'SELECT provider, zone FROM dns_provider WHERE domain_id = ?',
      input.domain,
    );
    if (before !== undefined && (before.provider !== input.provider || before.zone !== input.zone)) {
      await tx.run('DELETE FROM dns_written WHERE domain_id = ?', input.domain);
      await tx.run('DELETE FROM dns_drift WHERE domain_id = ?', input.domain);
      await tx.run('DELETE FROM dns_provider WHERE domain_id = ?', input.domain);
    }
    const { changes } = await tx.run(
      `INSERT INTO dns_provider (domain_id, provider, zone, ref, sealed, connected_at)
       SELECT id, ?, ?, ?, ?, ? FROM domain WHERE id = ?
       ON CONFLICT (domain_id) DO UPDATE SET ref = excluded.ref, sealed = excluded.sealed, error = NULL`,
      input.provider,
      input.zone,
      input.ref,
      input.sealed,
      stamp.now,
      input.domain,
    );
    return { kind: changes === 1 ? 'connected' : 'missing' };
  },
);

/** Deletes the connection and the list of written records. */
export const dropDnsProvider = command('drop-dns-provider', async (tx, input: { domain: number }): Promise<void> => {
  await tx.run('DELETE FROM dns_provider WHERE domain_id = ?', input.domain);
  await tx.run('DELETE FROM dns_written WHERE domain_id = ?', input.domain);
  await tx.run('DELETE FROM dns_drift WHERE domain_id = ?', input.domain);
});

/** A record that this server wrote, or was about to write. */
export interface StoredEntry extends WrittenEntry {
  /** The provider has accepted it. */
  confirmed: boolean;
}

/** Records that this server wrote for a domain. */
export const writtenEntries = lookup(
  'written-dns-entries',
  async (rx, input: { domain: number }): Promise<StoredEntry[]> => {
    const rows = await rx.all<{ type: string; name: string; value: string; before: string | null; confirmed: number }>(
      'SELECT type, name, value, before, confirmed FROM dns_written WHERE domain_id = ? ORDER BY type, name, value',
      input.domain,
    );
    return rows.map(({ type, before, confirmed, ...row }) => ({
      ...row,
      confirmed: confirmed === 1,
      type: type as OwnedType,
      before: before === null ? null : (JSON.parse(before) as WrittenEntry['before']),
    }));
  },
);

/**
 * Stores what is about to be written, before the provider has it: a crash in between must not leave a record that nobody
 * takes back, or lose the SPF record that was merged into.
 */
export const recordWrites = command(
  'record-dns-writes',
  async (tx, input: { domain: number; writes: readonly WrittenEntry[] }, stamp): Promise<void> => {
    for (const { type, name, value, before } of input.writes) {
      await tx.run(
        `INSERT INTO dns_written (domain_id, type, name, value, before, written_at, confirmed) SELECT id, ?, ?, ?, ?, ?, 0 FROM domain WHERE id = ?
         ON CONFLICT (domain_id, type, name, value) DO NOTHING`,
        type,
        name,
        value,
        before === null ? null : JSON.stringify(before),
        stamp.now,
        input.domain,
      );
    }
  },
);

/** Confirms records that the provider has. */
export const confirmWrites = command(
  'confirm-dns-writes',
  async (tx, input: { domain: number; entries: readonly Pick<WrittenEntry, 'type' | 'name' | 'value'>[] }) => {
    for (const { type, name, value } of input.entries) {
      await tx.run(
        'UPDATE dns_written SET confirmed = 1 WHERE domain_id = ? AND type = ? AND name = ? AND value = ? AND confirmed = 0',
        input.domain,
        type,
        name,
        value,
      );
    }
  },
);

/** Deletes written records that a finished step removed. */
export const dropWrites = command(
  'drop-dns-writes',
  async (tx, input: { domain: number; entries: readonly Pick<WrittenEntry, 'type' | 'name' | 'value'>[] }) => {
    for (const { type, name, value } of input.entries) {
      await tx.run(
        'DELETE FROM dns_written WHERE domain_id = ? AND type = ? AND name = ? AND value = ?',
        input.domain,
        type,
        name,
        value,
      );
    }
  },
);

/** Records the result of an access. `published`: all changes were made. */
export const recordDnsAccess = command(
  'record-dns-access',
  async (tx, input: { domain: number; error: string | null; published: boolean }, stamp): Promise<void> => {
    await tx.run(
      `UPDATE dns_provider SET tried_at = ?, error = ?, published_at = CASE WHEN ? = 1 THEN ? ELSE published_at END
       WHERE domain_id = ?`,
      stamp.now,
      input.error,
      Number(input.published),
      stamp.now,
      input.domain,
    );
  },
);
