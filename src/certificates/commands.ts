import { sendNotices, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command } from '../../mail/store/engine/types.ts';

/** Time for which a replaced key keeps its TLSA record: longer than any cache has the old ones. */
export const RETIRED_MS = 24 * 3_600_000;

/** Stores the key of an account; the first one stays. */
export const addAcmeAccount = command(
  'add-acme-account',
  async (tx, input: { directory: string; sealed: Uint8Array }, stamp): Promise<void> => {
    await tx.run(
      'INSERT INTO acme_account (directory, private, created_at) VALUES (?, ?, ?) ON CONFLICT (directory) DO NOTHING',
      input.directory,
      input.sealed,
      stamp.now,
    );
  },
);

/** Stores the URL of a registered account. */
export const setAcmeAccountUrl = command(
  'set-acme-account-url',
  async (tx, input: { directory: string; url: string }): Promise<void> => {
    await tx.run('UPDATE acme_account SET url = ? WHERE directory = ?', input.url, input.directory);
  },
);

/** Stores the next key of a certificate; the first one stays. */
export const addNextTlsKey = command(
  'add-next-tls-key',
  async (tx, input: { name: string; algorithm: string; spki: string; sealed: Uint8Array }, stamp): Promise<void> => {
    const next = await tx.get(
      'SELECT 1 AS there FROM tls_key WHERE name = ? AND algorithm = ? AND state = 0',
      input.name,
      input.algorithm,
    );
    if (next !== undefined) return;
    await tx.run(
      'INSERT INTO tls_key (spki, name, algorithm, private, state, created_at) VALUES (?, ?, ?, ?, 0, ?)',
      input.spki,
      input.name,
      input.algorithm,
      input.sealed,
      stamp.now,
    );
  },
);

/** Records from when the TLSA record of a next key is published; null: a look did not find it. */
export const recordKeySeen = command(
  'record-tls-key-seen',
  async (tx, input: { spki: string; seenAt: number | null; seenTtl: number | null }): Promise<void> => {
    await tx.run(
      'UPDATE tls_key SET seen_at = ?, seen_ttl = ? WHERE spki = ? AND state = 0',
      input.seenAt,
      input.seenTtl,
      input.spki,
    );
  },
);

/** A certificate that was issued. */
export interface IssuedCertificate {
  name: string;
  algorithm: string;
  names: readonly string[];
  chain: string;
  spki: string;
  notBefore: number;
  notAfter: number;
  renewAt: number;
  windowAt: number;
}

/** Stores a new certificate in place of the old one, and uses its key. Clears its failures. */
export const storeCertificate = command(
  'store-certificate',
  async (tx, { name, algorithm, ...one }: IssuedCertificate, stamp): Promise<void> => {
    const all = JSON.stringify(one.names);
    await tx.run(
      `INSERT INTO certificate
         (name, algorithm, names, chain, spki, not_before, not_after, issued_at, renew_at, window_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (name, algorithm) DO UPDATE SET names = excluded.names, chain = excluded.chain, spki = excluded.spki,
         not_before = excluded.not_before, not_after = excluded.not_after, issued_at = excluded.issued_at,
         renew_at = excluded.renew_at, window_at = excluded.window_at`,
      name,
      algorithm,
      all,
      one.chain,
      one.spki,
      one.notBefore,
      one.notAfter,
      stamp.now,
      one.renewAt,
      one.windowAt,
    );
    await tx.run(
      'UPDATE tls_key SET state = 2, retired_at = ? WHERE name = ? AND algorithm = ? AND state = 1 AND spki <> ?',
      stamp.now,
      name,
      algorithm,
      one.spki,
    );
    await tx.run('UPDATE tls_key SET state = 1, retired_at = NULL WHERE spki = ?', one.spki);
    await tx.run('DELETE FROM certificate_failure WHERE name = ? AND algorithm = ?', name, algorithm);
    for (const dnsName of one.names) await tx.run('DELETE FROM certificate_name_failure WHERE dns_name = ?', dnsName);
  },
);

/** Deletes keys that were retired a day ago. */
export const purgeTlsKeys = command('purge-tls-keys', async (tx, _input: undefined, stamp): Promise<void> => {
  await tx.run('DELETE FROM tls_key WHERE state = 2 AND retired_at <= ?', stamp.now - RETIRED_MS);
});

/** Stores the renewal time that the authority suggests, unless a person demanded a renewal meanwhile. */
export const setRenewalTime = command(
  'set-renewal-time',
  async (
    tx,
    input: { name: string; algorithm: string; before: number; renewAt: number; windowAt: number },
  ): Promise<void> => {
    await tx.run(
      'UPDATE certificate SET renew_at = ?, window_at = ? WHERE name = ? AND algorithm = ? AND renew_at = ?',
      input.renewAt,
      input.windowAt,
      input.name,
      input.algorithm,
      input.before,
    );
  },
);

/** Records a failed order, and the names that were refused. */
export const recordOrderFailure = command(
  'record-order-failure',
  async (
    tx,
    input: {
      name: string;
      algorithm: string;
      error: string;
      retryAt: number;
      refused: readonly { dnsName: string; error: string; retryAt: number }[];
    },
    stamp,
  ): Promise<void> => {
    await tx.run(
      `INSERT INTO certificate_failure (name, algorithm, failures, error, since, retry_at) VALUES (?, ?, 1, ?, ?, ?)
       ON CONFLICT (name, algorithm) DO UPDATE SET failures = certificate_failure.failures + 1, error = excluded.error,
         retry_at = excluded.retry_at`,
      input.name,
      input.algorithm,
      input.error,
      stamp.now,
      input.retryAt,
    );
    for (const { dnsName, error, retryAt } of input.refused) {
      await tx.run(
        `INSERT INTO certificate_name_failure (dns_name, failures, error, retry_at) VALUES (?, 1, ?, ?)
         ON CONFLICT (dns_name) DO UPDATE SET failures = certificate_name_failure.failures + 1, error = excluded.error,
           retry_at = excluded.retry_at`,
        dnsName,
        error,
        retryAt,
      );
    }
  },
);

/** Deletes the record of failures of a certificate that is not due. */
export const clearOrderFailure = command(
  'clear-order-failure',
  async (tx, input: { name: string; algorithm: string }): Promise<void> => {
    await tx.run('DELETE FROM certificate_failure WHERE name = ? AND algorithm = ?', input.name, input.algorithm);
  },
);

/** Deletes a certificate that no domain needs any longer, with its keys and failures. */
export const dropCertificate = command('drop-certificate', async (tx, input: { name: string }): Promise<void> => {
  await tx.run('DELETE FROM certificate WHERE name = ?', input.name);
  await tx.run('DELETE FROM tls_key WHERE name = ?', input.name);
  await tx.run('DELETE FROM certificate_failure WHERE name = ?', input.name);
});

/** Makes a certificate due now, and its names too. Returns if there is one, or a failed order. */
export const renewNow = command('renew-certificate-now', async (tx, input: { name: string }): Promise<boolean> => {
  const renewed = await tx.run('UPDATE certificate SET renew_at = 0 WHERE name = ?', input.name);
  const retried = await tx.run('UPDATE certificate_failure SET retry_at = 0 WHERE name = ?', input.name);
  await tx.run(
    `UPDATE certificate_name_failure SET retry_at = 0 WHERE dns_name = ? OR dns_name LIKE '%.' || ?`,
    input.name,
    input.name,
  );
  return renewed.changes + retried.changes > 0;
});

/** Sends the letters about a failing certificate, and records how many there were. */
export const recordCertificateNotice = command(
  'record-certificate-notice',
  async (
    tx,
    input: {
      name: string;
      algorithm: string;
      letters: number;
      notices: readonly SystemNotice<'certificate-failing'>[];
    },
    stamp,
  ): Promise<{ notified: boolean }> => {
    const { changes } = await tx.run(
      'UPDATE certificate_failure SET warned = ? WHERE name = ? AND algorithm = ? AND warned < ?',
      input.letters,
      input.name,
      input.algorithm,
      input.letters,
    );
    if (changes === 1) await sendNotices(tx, input.notices, stamp);
    return { notified: changes === 1 };
  },
);
