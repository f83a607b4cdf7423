import { lookup } from '../../mail/store/engine/types.ts';

export interface StoredCertificate {
  name: string;
  algorithm: string;
  /** DNS names. */
  names: string[];
  /** PEM. */
  chain: string;
  spki: string;
  notBefore: number;
  notAfter: number;
  issuedAt: number;
  renewAt: number;
  windowAt: number;
}

type CertificateColumns = Omit<StoredCertificate, 'names'> & { names: string } & Record<string, string | number>;

/** Every certificate of the authority. */
export const storedCertificates = lookup('stored-certificates', async (rx): Promise<StoredCertificate[]> => {
  const rows = await rx.all<CertificateColumns>(
    `SELECT name, algorithm, names, chain, spki, not_before AS "notBefore", not_after AS "notAfter",
       issued_at AS "issuedAt", renew_at AS "renewAt", window_at AS "windowAt"
     FROM certificate ORDER BY name, algorithm`,
  );
  return rows.map((row) => ({ ...row, names: JSON.parse(row.names) as string[] }));
});

/** A failed order. */
export interface FailedOrder {
  name: string;
  algorithm: string;
  failures: number;
  error: string;
  since: number;
  retryAt: number;
  warned: number;
}

/** Every order that failed and did not succeed since. */
export const failedOrders = lookup('failed-certificate-orders', (rx): Promise<FailedOrder[]> =>
  rx.all<FailedOrder & Record<string, string | number>>(
    `SELECT name, algorithm, failures, error, since, retry_at AS "retryAt", warned
     FROM certificate_failure ORDER BY name, algorithm`,
  ),
);

/** A DNS name that the authority could not verify. */
export interface FailedName {
  dnsName: string;
  failures: number;
  error: string;
  retryAt: number;
}

export const failedNames = lookup('failed-certificate-names', (rx): Promise<FailedName[]> =>
  rx.all<FailedName & Record<string, string | number>>(
    `SELECT dns_name AS "dnsName", failures, error, retry_at AS "retryAt" FROM certificate_name_failure ORDER BY dns_name`,
  ),
);

export interface TlsKeyRow {
  spki: string;
  sealed: Uint8Array;
  state: 'next' | 'used' | 'retired';
  createdAt: number;
  /** Time from which its TLSA record is published; null: the last look did not find it. */
  seenAt: number | null;
  /** Largest TTL of the TLSA records since then, ms. */
  seenTtl: number | null;
}

const STATES = ['next', 'used', 'retired'] as const;

/** Keys of one certificate, the newest first. */
export const tlsKeys = lookup(
  'tls-keys',
  async (rx, input: { name: string; algorithm: string }): Promise<TlsKeyRow[]> => {
    type Row = Omit<TlsKeyRow, 'sealed' | 'state'> & { private: Uint8Array; state: number };
    const rows = await rx.all<Row>(
      `SELECT spki, private, state, created_at AS "createdAt", seen_at AS "seenAt", seen_ttl AS "seenTtl" FROM tls_key
       WHERE name = ? AND algorithm = ? ORDER BY created_at DESC, spki`,
      input.name,
      input.algorithm,
    );
    return rows.map(({ private: sealed, state, ...row }) => ({ ...row, sealed, state: STATES[state] ?? 'retired' }));
  },
);

/** A key that is not used yet, as far as the looks at its TLSA record go. */
export type NextKey = Pick<TlsKeyRow, 'spki' | 'seenAt' | 'seenTtl'>;

/** Next keys of a certificate name, one for each algorithm. */
export const nextTlsKeys = lookup('next-tls-keys', (rx, input: { name: string }): Promise<NextKey[]> =>
  rx.all<NextKey>(
    'SELECT spki, seen_at AS "seenAt", seen_ttl AS "seenTtl" FROM tls_key WHERE name = ? AND state = 0 ORDER BY spki',
    input.name,
  ),
);

/** Keys of one certificate that have TLSA records: next, used, and retired within a day. */
export const publishedTlsKeys = lookup(
  'published-tls-keys',
  async (rx, input: { name: string }): Promise<{ spki: string; state: 'next' | 'used' | 'retired' }[]> => {
    const rows = await rx.all<{ spki: string; state: number }>(
      'SELECT spki, state FROM tls_key WHERE name = ? ORDER BY state, spki',
      input.name,
    );
    return rows.map(({ spki, state }) => ({ spki, state: STATES[state] ?? 'retired' }));
  },
);

/** The account at an authority. */
export const acmeAccount = lookup(
  'acme-account',
  (rx, input: { directory: string }): Promise<{ sealed: Uint8Array; url: string | null } | undefined> =>
    rx.get<{ sealed: Uint8Array; url: string | null }>(
      'SELECT private AS sealed, url FROM acme_account WHERE directory = ?',
      input.directory,
    ),
);
