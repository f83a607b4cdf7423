import type { DmarcReport, DmarcSum, ReportContent, TlsReport, TlsSum } from '../../mail/reports/report-types.ts';
import { MAX_COUNT } from '../../mail/reports/values.ts';
import { isDeliveryPeer } from '../../mail/store/queue/delivery-peer.ts';
import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';

const DAY_MS = 24 * 3600_000;
/** Messages that wait to be read, for one domain and for all. */
const MAX_WAITING = 100;
const MAX_WAITING_OCTETS = 256 * 1024 * 1024;
/** Reports about one domain and day; those of known reporters are recorded when strangers have used up their share. */
const MAX_REPORTS = 2000;
const MAX_KNOWN_REPORTS = 4000;
/** Distinct sums of one domain, day and kind; above it sources are combined. */
const MAX_SUMS = 4000;
/** Highest sum that is stored: all of 400 days together stay below 2^53, above which the store cannot be read. */
const MAX_SUM = MAX_COUNT;
/** Reports about another time than this are not counted: a forged date must not grow the tables. */
const MAX_AGE_DAYS = 60;
const MAX_ATTEMPTS = 5;
const RETRY_MS = 5 * 60_000;
/** Retention of sums and reports: a year, to compare. */
const KEEP_DAYS = 400;
const SLICE = 400;

/** A message to a report address. */
export interface WaitingReportMessage {
  domain: number;
  trace: string;
  /** Domain whose DKIM signature passed; '' for none. */
  verified: string;
  parts: string;
  octets: Uint8Array;
}

/** Stores a message to a report address, to be read later. Idempotent. `full`: too many wait. */
export const storeReport = command(
  'store-report',
  async (tx, { domain, trace, verified, parts, octets }: WaitingReportMessage, stamp): Promise<'stored' | 'full'> => {
    const waiting = await tx.get<{ own: number; octets: number }>(
      `SELECT count(*) FILTER (WHERE domain_id = ?) AS own, coalesce(sum(length(octets)), 0) AS octets FROM report_inbox`,
      domain,
    );
    const size = (waiting?.octets ?? 0) + octets.byteLength;
    if ((waiting?.own ?? 0) >= MAX_WAITING || size > MAX_WAITING_OCTETS) return 'full';
    await tx.run(
      `INSERT INTO report_inbox (domain_id, trace, received_at, verified, parts, octets, due_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?3) ON CONFLICT DO NOTHING`,
      domain,
      trace,
      stamp.now,
      verified,
      parts,
      octets,
    );
    return 'stored';
  },
);

/** Postpones a message whose reading failed for a reason of this server. `false`: it was postponed too often. */
export const postponeReport = command(
  'postpone-report',
  async (tx, { id }: { id: number }, stamp): Promise<boolean> => {
    const { changes } = await tx.run(
      'UPDATE report_inbox SET attempts = attempts + 1, due_at = ? WHERE id = ? AND attempts < ?',
      stamp.now + RETRY_MS,
      id,
      MAX_ATTEMPTS,
    );
    return changes > 0;
  },
);

interface InboxRow {
  domain: number;
  name: string;
  tenant: number;
  trace: string;
  verified: string;
  receivedAt: number;
}

/** `full`: too many reports about that day are stored. */
export type RecordedReport = 'recorded' | 'duplicate' | 'unreadable' | 'missing' | 'full';

/** A read report. */
export interface ReadReport {
  /** Number of the message. */
  id: number;
  content: ReportContent;
  /** Domains of the organization that is proven to have sent it; none: not proven. */
  reporter: readonly string[];
}

/** Records what a message to a report address reports, and deletes the message. A repeated report counts once. */
export const recordReport = command(
  'record-report',
  async (tx, { id, content, reporter }: ReadReport, stamp): Promise<RecordedReport> => {
    const inbox = await tx.get<InboxRow & Record<string, string | number>>(
      `SELECT i.domain_id AS domain, d.name, d.tenant, i.trace, i.verified, i.received_at AS "receivedAt"
       FROM report_inbox i JOIN domain d ON d.id = i.domain_id WHERE i.id = ?`,
      id,
    );
    await tx.run('DELETE FROM report_inbox WHERE id = ?', id);
    if (inbox === undefined) return 'missing';
    const problem = content.kind === 'unreadable' ? content.why : await objection(tx, inbox, content);
    const trusted = problem === '' && (await isDeliveryPeer.run(tx, { domains: reporter, now: stamp.now }));
    const begin = 'begin' in content && problem === '' ? content.begin : inbox.receivedAt;
    if (await isDayFull(tx, { domain: inbox.domain, begin, trusted })) return 'full';
    if (problem !== '') return recordUnreadable(tx, inbox, problem);
    if (content.kind === 'unreadable') return 'unreadable';
    if (!(await addReport(tx, inbox, content))) return 'duplicate';
    if (content.kind === 'failure') return 'recorded';
    const target = { domain: inbox.domain, trusted };
    if (content.kind === 'dmarc') await addDmarcSums(tx, target, content);
    else await addTlsSums(tx, target, content);
    return 'recorded';
  },
);

/** Counts up to the limit at most, so that a report costs the same however many there are. */
async function isDayFull(
  tx: Write,
  { domain, begin, trusted }: { domain: number; begin: number; trusted: boolean },
): Promise<boolean> {
  const from = Math.floor(begin / DAY_MS) * DAY_MS;
  const most = trusted ? MAX_KNOWN_REPORTS : MAX_REPORTS;
  const there = await tx.get<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM received_report WHERE domain_id = ? AND begin_at >= ? AND begin_at < ?
       LIMIT ?) AS counted`,
    domain,
    from,
    from + DAY_MS,
    most,
  );
  return (there?.n ?? 0) >= most;
}

/** Returns why a report is not counted; '' if it is: it must be about this domain, and about a time that may be. */
async function objection(tx: Write, inbox: InboxRow, content: ReportContent): Promise<string> {
  if (content.kind === 'unreadable' || content.kind === 'failure') return '';
  const { domain, begin, end } = content;
  if (domain !== inbox.name && !domain.endsWith(`.${inbox.name}`)) {
    return `it is about ${domain}, which does not send its reports to this address`;
  }
  // A subdomain may be hosted for another organization.
  const others = await tx.get(
    `SELECT 1 AS there FROM domain WHERE state = 1 AND tenant <> ?2 AND (name = ?1 OR ?1 LIKE '%.' || name)
       AND length(name) > length(?3)`,
    domain,
    inbox.tenant,
    inbox.name,
  );
  if (others !== undefined) return `it is about ${domain}, which belongs to another organization`;
  const isOld = begin < inbox.receivedAt - MAX_AGE_DAYS * DAY_MS || begin > inbox.receivedAt + DAY_MS;
  return isOld || end - begin > MAX_AGE_DAYS * DAY_MS ? 'its dates are not in the last 60 days' : '';
}

async function recordUnreadable(tx: Write, inbox: InboxRow, problem: string): Promise<'unreadable'> {
  const { domain, trace, verified, receivedAt } = inbox;
  await tx.run(
    `INSERT INTO received_report (domain_id, kind, organization, report_id, verified, begin_at, end_at, received_at, policy,
       count, failed, problem) VALUES (?1, 'unreadable', '', ?2, ?3, ?4, ?4, ?4, '', 0, 0, ?5) ON CONFLICT DO NOTHING`,
    domain,
    trace,
    verified,
    receivedAt,
    problem,
  );
  return 'unreadable';
}

async function addReport(
  tx: Write,
  { domain, trace, verified, receivedAt }: InboxRow,
  content: Exclude<ReportContent, { kind: 'unreadable' }>,
): Promise<boolean> {
  const facts =
    content.kind === 'failure'
      ? { organization: '', reportId: trace, begin: receivedAt, end: receivedAt, policy: '', count: 1, failed: 1 }
      : { policy: '', ...content, ...totalsOf(content) };
  const { changes } = await tx.run(
    `INSERT INTO received_report (domain_id, kind, organization, report_id, verified, begin_at, end_at, received_at, policy,
       count, failed, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT DO NOTHING`,
    domain,
    content.kind,
    facts.organization,
    facts.reportId || trace,
    verified,
    facts.begin,
    facts.end,
    receivedAt,
    facts.policy,
    facts.count,
    facts.failed,
  );
  return changes > 0;
}

function totalsOf(report: DmarcReport | TlsReport): { count: number; failed: number } {
  const total = { count: 0, failed: 0 };
  const add = (count: number, passes: boolean): void => {
    total.count += count;
    if (!passes) total.failed += count;
  };
  if (report.kind === 'dmarc') for (const one of report.sums) add(one.messages, one.spf || one.dkim);
  else for (const one of report.sums) add(one.sessions, one.result === 'success');
  return { count: Math.min(total.count, MAX_SUM), failed: Math.min(total.failed, MAX_SUM) };
}

async function addDmarcSums(tx: Write, { domain, trusted }: SumTarget, { begin, sums }: DmarcReport): Promise<void> {
  const day = Math.floor(begin / DAY_MS);
  const there = await tx.get<{ n: number }>(
    'SELECT count(*) AS n FROM dmarc_sum WHERE domain_id = ? AND day = ?',
    domain,
    day,
  );
  const many = (there?.n ?? 0) + sums.length > MAX_SUMS;
  for (const sum of sums) await addDmarcSum(tx, { domain, day, trusted }, many ? combined(sum) : sum);
}

/** Domain of the sums of a report. */
interface SumTarget {
  domain: number;
  /** It may move a policy. */
  trusted: boolean;
}

interface SumKey extends SumTarget {
  day: number;
}

function combined(sum: DmarcSum): DmarcSum {
  return { ...sum, source: '', headerFrom: '', override: '', spfDomain: '', dkimDomain: '' };
}

async function addDmarcSum(tx: Write, { domain, day, trusted }: SumKey, sum: DmarcSum): Promise<void> {
  await tx.run(
    `INSERT INTO dmarc_sum (domain_id, day, trusted, source, header_from, spf, dkim, disposition, override, spf_domain,
       dkim_domain, messages) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (domain_id, day, trusted, source, header_from, spf, dkim, disposition, override, spf_domain, dkim_domain) DO UPDATE SET messages = min(dmarc_sum.messages + excluded.messages, ?)`,
    domain,
    day,
    Number(trusted),
    sum.source,
    sum.headerFrom,
    Number(sum.spf),
    Number(sum.dkim),
    sum.disposition,
    sum.override,
    sum.spfDomain,
    sum.dkimDomain,
    Math.min(sum.messages, MAX_SUM),
    MAX_SUM,
  );
}

async function addTlsSums(tx: Write, { domain, trusted }: SumTarget, { begin, sums }: TlsReport): Promise<void> {
  const day = Math.floor(begin / DAY_MS);
  const there = await tx.get<{ n: number }>(
    'SELECT count(*) AS n FROM tls_sum WHERE domain_id = ? AND day = ?',
    domain,
    day,
  );
  const many = (there?.n ?? 0) + sums.length > MAX_SUMS;
  for (const sum of sums) {
    const one: TlsSum = many ? { ...sum, mx: '', source: '' } : sum;
    await tx.run(
      `INSERT INTO tls_sum (domain_id, day, trusted, policy_type, result, mx, source, sessions)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (domain_id, day, trusted, policy_type, result, mx, source) DO UPDATE SET sessions = min(tls_sum.sessions + excluded.sessions, ?)`,
      domain,
      day,
      Number(trusted),
      one.policyType,
      one.result,
      one.mx,
      one.source,
      Math.min(one.sessions, MAX_SUM),
      MAX_SUM,
    );
  }
}

/** Deletes all reports about a domain, with the domain. */
export async function dropReports(tx: Write, domain: number): Promise<void> {
  await tx.run('DELETE FROM report_inbox WHERE domain_id = ?', domain);
  await tx.run('DELETE FROM received_report WHERE domain_id = ?', domain);
  await tx.run('DELETE FROM dmarc_sum WHERE domain_id = ?', domain);
  await tx.run('DELETE FROM tls_sum WHERE domain_id = ?', domain);
  await tx.run('DELETE FROM own_dmarc_policy WHERE domain_id = ?', domain);
  await tx.run('DELETE FROM sts_walk_off WHERE domain_id = ?', domain);
  await tx.run('DELETE FROM report_alarm WHERE domain_id = ?', domain);
}

/** Deletes old reports and sums, a slice at a time. True if more are left. */
export const purgeReports = command('purge-reports', async (tx, _: undefined, stamp: Stamp): Promise<boolean> => {
  const before = stamp.now - KEEP_DAYS * DAY_MS;
  const day = Math.floor(before / DAY_MS);
  const reports = await tx.run(
    'DELETE FROM received_report WHERE id IN (SELECT id FROM received_report WHERE received_at < ? LIMIT ?)',
    before,
    SLICE,
  );
  const dmarc = await purgeDmarcDay(tx, day);
  const tls = await purgeTlsDay(tx, day);
  return reports.changes === SLICE || dmarc || tls;
});

/** Deletes a slice of the DMARC sums of one old day. True if there was one. */
async function purgeDmarcDay(tx: Write, before: number): Promise<boolean> {
  const { changes } = await tx.run(
    `DELETE FROM dmarc_sum WHERE (domain_id, day, trusted, source, header_from, spf, dkim, disposition, override, spf_domain,
       dkim_domain) IN (SELECT domain_id, day, trusted, source, header_from, spf, dkim, disposition, override, spf_domain,
       dkim_domain FROM dmarc_sum WHERE day < ? LIMIT ?)`,
    before,
    SLICE,
  );
  return changes === SLICE;
}

async function purgeTlsDay(tx: Write, before: number): Promise<boolean> {
  const { changes } = await tx.run(
    `DELETE FROM tls_sum WHERE (domain_id, day, trusted, policy_type, result, mx, source) IN
       (SELECT domain_id, day, trusted, policy_type, result, mx, source FROM tls_sum WHERE day < ? LIMIT ?)`,
    before,
    SLICE,
  );
  return changes === SLICE;
}
