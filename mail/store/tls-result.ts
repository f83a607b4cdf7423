import { command, query, type Stamp, type Write } from './engine/types.ts';

/** What can go wrong, in the words of RFC 8460 4.3. */
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

/** Which policy a connection was made under. RFC 8460 4.4. */
export interface ReportedPolicy {
  /** The domain that mail was for. */
  domain: string;
  type: 'tlsa' | 'sts' | 'no-policy-found';
  /** The lines of an MTA-STS policy, or the TLSA records as text. */
  strings: readonly string[];
}

/** How one connection went. */
export interface TlsResult extends ReportedPolicy {
  result: 'success' | TlsFailure;
  /** '' when it never came to a server. */
  mx: string;
  ip: string;
  /** Our own address, '' when there was no connection. */
  from: string;
}

const DAY_MS = 24 * 3600_000;
/** Kinds of results told apart for one domain on one day; beyond, servers are counted together. */
const MOST_KINDS = 200;
/** Characters of a policy that are kept. */
const MOST_POLICY = 4000;
/** Reports are made the day after; a sender that was down for a while makes up for it. */
const KEEP_DAYS = 14;
const SLICE = 200;

/** Counts results, one connection each. Part of the transaction that records what was sent over them. */
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
       ON CONFLICT (day, domain, policy_type, policy, result, mx, ip, own_ip) DO UPDATE SET sessions = sessions + 1`,
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
  return strings.filter((one) => (left -= one.length) >= 0);
}

/** The day of a moment (ms UTC), as results are kept by. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** What happened with one policy of one domain on a day: an element of `policies` in a report. RFC 8460 4.4. */
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
 * Of one day, the domains from after `after` in their order, at most `limit` of them; of one domain alone where it is
 * named, and only of those where something failed when `failed`.
 */
export const tlsResults = query(
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

/** Forgets a slice of the results that no report is made of any more. Answers whether there is more. */
export const forgetTlsResults = command(
  'forget-tls-results',
  async (tx, _input: undefined, stamp): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM tls_result WHERE (day, domain, policy_type, policy, result, mx, ip, own_ip) IN
       (SELECT day, domain, policy_type, policy, result, mx, ip, own_ip FROM tls_result WHERE day < ? ORDER BY day LIMIT ?)`,
      dayOf(stamp.now) - KEEP_DAYS,
      SLICE,
    );
    return changes === SLICE;
  },
);
