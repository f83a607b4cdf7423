import { isIP } from 'node:net';
import { isWithin } from '../dns/name.ts';
import { jsonExcess } from '../limits/json-bounds.ts';
import { MAX_REPORT_SUMS, ReportUnreadable, type TlsReport, type TlsSum } from './report-types.ts';
import { boundedSums, countOf, domainText, cleanReportText, scalarText } from './values.ts';

type Member = Readonly<Record<string, unknown>>;

const BOUNDS = { depth: 20, elements: 500_000 };
const POLICY_TYPES = ['tlsa', 'sts', 'no-policy-found'] as const;
/** Failure types of RFC 8460 4.3. */
const FAILURES = new Set([
  'starttls-not-supported',
  'certificate-host-mismatch',
  'certificate-expired',
  'certificate-not-trusted',
  'validation-failure',
  'tlsa-invalid',
  'dnssec-invalid',
  'dane-required',
  'sts-policy-fetch-error',
  'sts-policy-invalid',
  'sts-webpki-invalid',
]);

/** Parses an SMTP TLS report. RFC 8460 4.4. Throws {@link ReportUnreadable}. */
export function parseTlsJson(json: string): TlsReport {
  const report = parsed(json);
  const policies = listOf(report['policies']);
  const domain = policies.map((one) => domainText(member(one, 'policy')['policy-domain'])).find((name) => name !== '');
  if (domain === undefined) throw new ReportUnreadable('it names no policy-domain in its policies');
  const range = member(report, 'date-range');
  const begin = Date.parse(scalarText(range['start-datetime']));
  const end = Date.parse(scalarText(range['end-datetime']));
  if (!Number.isFinite(begin)) throw new ReportUnreadable('it has no start-datetime in its date-range');
  const sums = new Map<string, TlsSum>();
  for (const one of policies) addPolicy(sums, one, domain);
  return {
    kind: 'tls',
    organization: cleanReportText(report['organization-name']) || cleanReportText(report['contact-info']),
    reportId: cleanReportText(report['report-id']),
    domain,
    begin,
    end: Number.isFinite(end) ? Math.max(begin, end) : begin,
    sums: boundedSums(sums, MAX_REPORT_SUMS, {
      count: (sum) => sum.sessions,
      add: (sum, sessions) => (sum.sessions += sessions),
      combine: (sum) => ({ ...sum, mx: '', source: '' }),
    }),
  };
}

function parsed(json: string): Member {
  const excess = jsonExcess(json, BOUNDS);
  if (excess === 'depth') throw new ReportUnreadable(`its JSON is nested deeper than ${BOUNDS.depth}`);
  if (excess === 'elements') throw new ReportUnreadable(`its JSON has more than ${BOUNDS.elements} elements`);
  try {
    return asMember(JSON.parse(json));
  } catch {
    throw new ReportUnreadable('its JSON is broken');
  }
}

/** Adds the sessions of one policy. Other domains than that of the report have reports of their own. */
function addPolicy(sums: Map<string, TlsSum>, one: Member, domain: string): void {
  const policy = member(one, 'policy');
  if (!isWithin(domainText(policy['policy-domain']) || domain, domain)) return;
  const policyType = POLICY_TYPES.find((type) => type === scalarText(policy['policy-type'])) ?? 'no-policy-found';
  const summary = member(one, 'summary');
  const common = { policyType, mx: '', source: '' };
  add(sums, { ...common, result: 'success', sessions: countOf(summary['total-successful-session-count']) ?? 0 });
  let detailed = 0;
  for (const detail of listOf(one['failure-details'])) {
    const type = scalarText(detail['result-type']);
    const source = scalarText(detail['sending-mta-ip']);
    const sessions = countOf(detail['failed-session-count']) ?? 1;
    detailed += sessions;
    add(sums, {
      policyType,
      result: FAILURES.has(type) ? type : 'other',
      mx: domainText(detail['receiving-mx-hostname']),
      source: isIP(source) === 0 ? '' : source.toLowerCase(),
      sessions,
    });
  }
  // Details are optional: failures without them count too.
  const failed = countOf(summary['total-failure-session-count']) ?? detailed;
  add(sums, { ...common, result: 'other', sessions: failed - detailed });
}

function add(sums: Map<string, TlsSum>, sum: TlsSum): void {
  if (sum.sessions <= 0) return;
  const key = JSON.stringify({ ...sum, sessions: 0 });
  const there = sums.get(key);
  if (there === undefined) sums.set(key, sum);
  else there.sessions += sum.sessions;
}

function listOf(value: unknown): Member[] {
  return Array.isArray(value) ? value.map(asMember) : [];
}

function member(parent: Member, name: string): Member {
  return asMember(parent[name]);
}

function asMember(value: unknown): Member {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Member) : {};
}
