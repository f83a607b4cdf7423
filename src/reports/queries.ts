import { lookup } from '../../mail/store/engine/types.ts';

/** Verified domain that receives reports at an address; undefined for an address that a mailbox or alias has. */
export const reportDomain = lookup(
  'report-domain',
  async (rx, { name, key }: { name: string; key: string }): Promise<number | undefined> => {
    const row = await rx.get<{ id: number }>(
      `SELECT id FROM domain d WHERE name = ?1 AND state = 1
         AND NOT EXISTS (SELECT 1 FROM own_address WHERE key = ?2 AND domain_id = d.id)
         AND NOT EXISTS (SELECT 1 FROM forwarder WHERE source_key = ?2 AND domain_id = d.id)`,
      name,
      key,
    );
    return row?.id;
  },
);

/** A message to a report address that waits to be read. */
export interface WaitingReport {
  id: number;
  domain: number;
  tenant: number;
  /** Domain whose DKIM signature passed; '' for none. */
  verified: string;
  parts: string;
  octets: Uint8Array;
}

/** The message that is due first. */
export const nextReport = lookup('next-report', (rx, { now }: { now: number }): Promise<WaitingReport | undefined> =>
  rx.get<WaitingReport & Record<string, number | string | Uint8Array>>(
    `SELECT i.id, i.domain_id AS domain, coalesce(d.tenant, 0) AS tenant, i.verified, i.parts, i.octets FROM report_inbox i
       LEFT JOIN domain d ON d.id = i.domain_id WHERE i.due_at <= ? ORDER BY i.due_at, i.id LIMIT 1`,
    now,
  ),
);

/** Range of days, both included. */
export interface SumsInput {
  domain: number;
  since: number;
  until: number;
}

/** Results of one source, from reports of all reporters. */
export interface SourceSum {
  source: string;
  messages: number;
  passed: number;
  spf: number;
  dkim: number;
  quarantined: number;
  rejected: number;
  /** Messages in reports without a valid signature. */
  unsigned: number;
  /** Messages that reporters treated as forwarded or sent through a list. */
  forwarded: number;
  /** One of the domains that SPF, or a signature, named; '' for none. */
  spfDomain: string;
  dkimDomain: string;
}

/** Largest sources by messages, those with failures first if `failed`. */
export const dmarcSources = lookup(
  'dmarc-sources',
  (rx, { domain, since, until, limit }: SumsInput & { limit: number }): Promise<SourceSum[]> =>
    rx.all<SourceSum & Record<string, string | number>>(
      `SELECT source, sum(messages) AS messages, sum(messages * (spf | dkim)) AS passed, sum(messages * spf) AS spf,
         sum(messages * dkim) AS dkim, sum(iif(disposition = 'quarantine', messages, 0)) AS quarantined,
         sum(iif(disposition = 'reject', messages, 0)) AS rejected, sum(messages * (1 - trusted)) AS unsigned,
         sum(iif(override IN ('forwarded', 'trusted_forwarder', 'mailing_list'), messages, 0)) AS forwarded,
         max(spf_domain) AS "spfDomain", max(dkim_domain) AS "dkimDomain"
       FROM dmarc_sum WHERE domain_id = ? AND day BETWEEN ? AND ? GROUP BY source
       ORDER BY sum(messages) DESC, source LIMIT ?`,
      domain,
      since,
      until,
      limit,
    ),
);

/** Messages, or sessions, of one day. */
export interface DaySum {
  day: number;
  total: number;
  passed: number;
  /** Messages, or sessions, in signed reports alone. */
  signed: number;
  signedPassed: number;
}

/** DMARC results by day. */
export const dmarcDays = lookup('dmarc-days', (rx, { domain, since, until }: SumsInput): Promise<DaySum[]> =>
  rx.all<DaySum & Record<string, number>>(
    `SELECT day, sum(messages) AS total, sum(messages * (spf | dkim)) AS passed, sum(messages * trusted) AS signed,
         sum(messages * (spf | dkim) * trusted) AS "signedPassed"
       FROM dmarc_sum WHERE domain_id = ? AND day BETWEEN ? AND ? GROUP BY day ORDER BY day`,
    domain,
    since,
    until,
  ),
);

/** Results of TLS sessions by day. */
export const tlsDays = lookup('tls-days', (rx, { domain, since, until }: SumsInput): Promise<DaySum[]> =>
  rx.all<DaySum & Record<string, number>>(
    `SELECT day, sum(sessions) AS total, sum(iif(result = 'success', sessions, 0)) AS passed,
         sum(sessions * trusted) AS signed, sum(iif(result = 'success', sessions * trusted, 0)) AS "signedPassed"
       FROM tls_sum WHERE domain_id = ? AND day BETWEEN ? AND ? GROUP BY day ORDER BY day`,
    domain,
    since,
    until,
  ),
);

/** Sessions with one result. */
export interface TlsResultSum {
  policyType: string;
  result: string;
  mx: string;
  sessions: number;
  unsigned: number;
}

/** TLS results by policy, result and MX host, most sessions first. */
export const tlsSums = lookup(
  'tls-sums',
  (rx, { domain, since, until, limit }: SumsInput & { limit: number }): Promise<TlsResultSum[]> =>
    rx.all<TlsResultSum & Record<string, string | number>>(
      `SELECT policy_type AS "policyType", result, mx, sum(sessions) AS sessions,
         sum(sessions * (1 - trusted)) AS unsigned
       FROM tls_sum WHERE domain_id = ? AND day BETWEEN ? AND ? GROUP BY policy_type, result, mx
       ORDER BY sum(sessions) DESC, policy_type, result, mx LIMIT ?`,
      domain,
      since,
      until,
      limit,
    ),
);

/** Reporter with the number of its reports. */
export interface ReporterCount {
  kind: 'dmarc' | 'tls' | 'failure' | 'unreadable';
  organization: string;
  verified: string;
  reports: number;
  count: number;
  failed: number;
  lastAt: number;
  /** Reason that the last one could not be read; '' for none. */
  problem: string;
}

const DAY_MS = 24 * 3600_000;

/** Reporters of a time, those with the most messages first. */
export const reporters = lookup(
  'reporters',
  (rx, { domain, since, until, limit }: SumsInput & { limit: number }): Promise<ReporterCount[]> =>
    rx.all<ReporterCount & Record<string, string | number>>(
      `SELECT kind, organization, verified, count(*) AS reports, sum(count) AS count, sum(failed) AS failed,
         max(received_at) AS "lastAt", max(problem) AS problem
       FROM received_report WHERE domain_id = ? AND begin_at >= ? AND begin_at < ?
       GROUP BY kind, organization, verified ORDER BY sum(count) DESC, kind, organization, verified LIMIT ?`,
      domain,
      since * DAY_MS,
      (until + 1) * DAY_MS,
      limit,
    ),
);
