import type { ReportHead } from './write-dmarc.ts';

/** Results of one policy. RFC 8460 4.4. */
export interface TlsPolicyResults {
  policy: { 'policy-type': string; 'policy-string': readonly string[]; 'policy-domain': string };
  summary: { 'total-successful-session-count': number; 'total-failure-session-count': number };
  'failure-details': readonly object[];
}

/** Formats an SMTP TLS report. RFC 8460 4.4. */
export function writeTlsJson(head: ReportHead, policies: readonly TlsPolicyResults[]): string {
  const { hostname, contact, reportId, begin, end } = head;
  return JSON.stringify({
    'organization-name': hostname,
    'date-range': { 'start-datetime': timeText(begin), 'end-datetime': timeText(end) },
    'contact-info': contact,
    'report-id': reportId,
    policies: policies.map(policyOf),
  });
}

function policyOf({ policy, summary, 'failure-details': failures }: TlsPolicyResults): object {
  const hosts = policy['policy-type'] === 'sts' ? mxPatterns(policy['policy-string']) : [];
  return {
    policy: { ...policy, ...(hosts.length > 0 && { 'mx-host': hosts }) },
    summary,
    ...(failures.length > 0 && { 'failure-details': failures }),
  };
}

function mxPatterns(lines: readonly string[]): string[] {
  return lines.filter((line) => /^mx:/i.test(line)).map((line) => line.slice(3).trim());
}

/** RFC 3339, in whole seconds. */
function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
