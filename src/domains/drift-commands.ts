import { sendNotices, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command, lookup } from '../../mail/store/engine/types.ts';

/** Records that a domain without a DNS provider lost; undefined: its provider is looked at instead. */
export const manualDrift = lookup(
  'manual-dns-drift',
  async (rx, input: { domain: number }): Promise<string[] | undefined> => {
    const row = await rx.get<{ published: number | null; records: string | null }>(
      `SELECT p.published_at AS published, f.records FROM domain d LEFT JOIN dns_provider p ON p.domain_id = d.id
       LEFT JOIN dns_drift f ON f.domain_id = d.id WHERE d.id = ?`,
      input.domain,
    );
    if (row === undefined || row.published !== null) return undefined;
    return row.records === null ? [] : (JSON.parse(row.records) as string[]);
  },
);

/** Stores which records are missing or changed; none ends the drift. */
export const recordDrift = command(
  'record-dns-drift',
  async (tx, input: { domain: number; records: readonly string[] }, stamp): Promise<void> => {
    if (input.records.length === 0) {
      await tx.run('DELETE FROM dns_drift WHERE domain_id = ?', input.domain);
      return;
    }
    await tx.run(
      `INSERT INTO dns_drift (domain_id, records, since) SELECT id, ?, ? FROM domain WHERE id = ?
       ON CONFLICT (domain_id) DO UPDATE SET records = excluded.records`,
      JSON.stringify(input.records),
      stamp.now,
      input.domain,
    );
  },
);

/** A drift that the owners were not notified of. */
export interface DnsDrift {
  domain: number;
  name: string;
  tenant: number;
  records: string[];
  /** They are published by hand, not at a DNS provider. */
  manual: boolean;
}

/** Drifts with records that the owners do not know yet. */
export const unnotifiedDrifts = lookup('unnotified-dns-drifts', async (rx): Promise<DnsDrift[]> => {
  const rows = await rx.all<{
    domain: number;
    name: string;
    tenant: number;
    records: string;
    connected: number | null;
  }>(
    `SELECT f.domain_id AS domain, d.name, d.tenant, f.records, p.domain_id AS connected
     FROM dns_drift f JOIN domain d ON d.id = f.domain_id LEFT JOIN dns_provider p ON p.domain_id = f.domain_id
     WHERE f.notified IS NOT f.records ORDER BY f.domain_id LIMIT 100`,
  );
  return rows.map(({ connected, ...row }) => ({
    ...row,
    records: JSON.parse(row.records) as string[],
    manual: connected === null,
  }));
});

/** Sends the letters about a drift, once for each list of records. */
export const recordDriftNotice = command(
  'record-dns-drift-notice',
  async (
    tx,
    input: { domain: number; records: readonly string[]; notices: readonly SystemNotice<'dns-drift'>[] },
    stamp,
  ): Promise<boolean> => {
    const records = JSON.stringify(input.records);
    const { changes } = await tx.run(
      'UPDATE dns_drift SET notified = records WHERE domain_id = ? AND records = ? AND notified IS NOT records',
      input.domain,
      records,
    );
    if (changes === 1) await sendNotices(tx, input.notices, stamp);
    return changes === 1;
  },
);
