import { command, lookup, type Stamp, type Write } from '../engine/types.ts';

/** Failure types of RFC 8460 4.3. */
export type TlsFailure =
  | 'starttls-not-supported'
  | 'certificate-host-mismatch'
  | 'certificate-expired'
  | 'certificate-not-trusted'
  | 'validation-failure'
  | 'tlsa-invalid'
  | 'dnssec-invalid'
  | 'dane-required'
  | 'sts-policy-fetch-error'
  | 'sts-policy-invalid'
  | 'sts-webpki-invalid';

/** Policy of a connection. RFC 8460 4.4. */
export interface ReportedPolicy {
  /** The destination domain. */
  domain: string;
  type: 'tlsa' | 'sts' | 'no-policy-found';
  /** Lines of an MTA-STS policy, or TLSA records as text. */
  strings: readonly string[];
}

/** Result of one connection. */
export interface TlsResult extends ReportedPolicy {
  result: 'success' | TlsFailure;
  /** MX host; '' if none was reached. */
  mx: string;
  ip: string;
  /** Local address; '' without a connection. */
  from: string;
}

const DAY_MS = 24 * 3600_000;
/** Maximum distinct results of one domain and day; above it servers are combined. */
const MOST_KINDS = 200;
/** Octets of a stored policy, which is in the key of its rows: a key of PostgreSQL has 2,700 at most. */
const MOST_POLICY = 1500;
/** Retention: reports are sent the next day, or later after a downtime. */
const KEEP_DAYS = 14;
const SLICE = 200;

/** Counts results, one for each connection. Part of the transaction that records the attempts. */
export async function noteTlsResults(tx: Write, results: readonly TlsResult[], stamp: Stamp): Promise<void> {
  const day = dayOf(stamp.now);
  for (const one of results) {
    const kinds = await tx.get<{ count: number }>(
      'SELECT count(*) AS count FROM (SELECT 1 FROM tls_result WHERE day = ? AND domain = ? LIMIT ?)',
      day,
      one.domain,
      MOST_KINDS,
    );
    const many = (kinds?.count ?? 0) >= MOST_KINDS;
    await tx.run(
      `INSERT INTO tls_result (day, domain, policy_type, policy, result, mx, ip, own_ip, sessions) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1)
       ON CONFLICT (day, domain, policy_type, policy, result, mx, ip, own_ip) DO UPDATE SET sessions = tls_result.sessions + 1`,
      day,
      one.domain,
      one.type,
      many ? '[]' : JSON.stringify(bounded(one.strings)),
      one.result,
      many ? '' : one.mx,
      many ? '' : one.ip,
      many ? '' : one.from,
    );
  }
}

function bounded(strings: readonly string[]): string[] {
  let left = MOST_POLICY;
  return strings.filter((one) => (left -= Buffer.byteLength(JSON.stringify(one)) + 1) >= 0);
}

/** Day number of a time (ms UTC). */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** Results of one policy of one domain and day: an element of `policies` in a report. RFC 8460 4.4. */
export interface PolicyReport {
  policy: { 'policy-type': ReportedPolicy['type']; 'policy-string': string[]; 'policy-domain': string };
  summary: { 'total-successful-session-count': number; 'total-failure-session-count': number };
  'failure-details': FailureDetail[];
}

export interface FailureDetail {
  'result-type': TlsFailure;
  'sending-mta-ip'?: string;
  'receiving-mx-hostname'?: string;
  'receiving-ip'?: string;
  'failed-session-count': number;
}

interface Row extends Record<string, string | number> {
  domain: string;
  policy_type: ReportedPolicy['type'];
  policy: string;
  result: TlsResult['result'];
  mx: string;
  ip: string;
  own_ip: string;
  sessions: number;
}

/**
 * Results of one day by domain after `after`, at most `limit`; of one domain if given, and only with failures if
 * `failed`.
 */
export const tlsResults = lookup(
  'tls-results',
  async (
    rx,
    input: { day: number; after: string; limit: number; domain?: string | undefined; failed?: boolean },
  ): Promise<PolicyReport[]> => {
    const rows = await rx.all<Row>(
      `SELECT domain, policy_type, policy, result, mx, ip, own_ip, sessions FROM tls_result
       WHERE day = ?1 AND domain IN (SELECT DISTINCT domain FROM tls_result
         WHERE day = ?1 AND domain > ?2 AND (?4 IS NULL OR domain = ?4) AND (?5 = 0 OR result <> 'success')
         ORDER BY domain LIMIT ?3)
       ORDER BY domain, policy_type, policy, result`,
      input.day,
      input.after,
      input.limit,
      input.domain ?? null,
      Number(input.failed ?? false),
    );
    const reports = new Map<string, PolicyReport>();
    for (const row of rows) addRow(reports, row);
    return [...reports.values()];
  },
);

function addRow(reports: Map<string, PolicyReport>, row: Row): void {
  const { domain, policy_type, policy, result, sessions } = row;
  const key = JSON.stringify([domain, policy_type, policy]);
  const report = reports.get(key) ?? {
    policy: { 'policy-type': policy_type, 'policy-string': JSON.parse(policy) as string[], 'policy-domain': domain },
    summary: { 'total-successful-session-count': 0, 'total-failure-session-count': 0 },
    'failure-details': [],
  };
  reports.set(key, report);
  if (result === 'success') {
    report.summary['total-successful-session-count'] += sessions;
    return;
  }
  report.summary['total-failure-session-count'] += sessions;
  report['failure-details'].push({ 'result-type': result, ...where(row), 'failed-session-count': sessions });
}

function where({ mx, ip, own_ip }: Row): Partial<FailureDetail> {
  return {
    ...(own_ip !== '' && { 'sending-mta-ip': own_ip }),
    ...(mx !== '' && { 'receiving-mx-hostname': mx }),
    ...(ip !== '' && { 'receiving-ip': ip }),
  };
}

/** Purges a slice of reported results. Returns whether there are more. */
export const purgeTlsResults = command('purge-tls-results', async (tx, _input: undefined, stamp): Promise<boolean> => {
  const { changes } = await tx.run(
    `DELETE FROM tls_result WHERE (day, domain, policy_type, policy, result, mx, ip, own_ip) IN
       (SELECT day, domain, policy_type, policy, result, mx, ip, own_ip FROM tls_result WHERE day < ? ORDER BY day LIMIT ?)`,
    dayOf(stamp.now) - KEEP_DAYS,
    SLICE,
  );
  return changes === SLICE;
});
