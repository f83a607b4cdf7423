import { XMLBuilder } from 'fast-xml-parser';

/** Facts about a report to another domain. */
export interface ReportHead {
  /** Host name of this server. */
  hostname: string;
  /** Address for questions. */
  contact: string;
  reportId: string;
  /** Domain that the report is about. */
  domain: string;
  /** ms UTC; the end is included. */
  begin: number;
  end: number;
}

/** Messages of one source with the same results. Names contain no control characters. */
export interface AggregateRow {
  source: string;
  messages: number;
  /** `pass`, or what was done with messages that fail. */
  disposition: string;
  /** Passes and is aligned. */
  spf: boolean;
  dkim: boolean;
  /** Reason for another disposition than the policy asks for; '' for none. RFC 9990 3.1.6. */
  reason: string;
  headerFrom: string;
  /** '' for the null reverse-path. */
  envelopeFrom: string;
  /** Results whatever they mean for DMARC. `spf` is left out for the null reverse-path. */
  auth: {
    spf?: { domain: string; result: string };
    dkim: readonly { domain: string; selector: string; result: string }[];
  };
}

const BUILDER = new XMLBuilder({ format: true, suppressEmptyNode: false, ignoreAttributes: false });
const POLICIES = ['none', 'quarantine', 'reject'];

/** Formats a DMARC aggregate report. `tags`: those of the published record. RFC 9990 3.1. */
export function writeDmarcXml(
  head: ReportHead,
  tags: ReadonlyMap<string, string>,
  results: readonly AggregateRow[],
): string {
  const feedback = {
    '@_xmlns': 'urn:ietf:params:xml:ns:dmarc-2.0',
    version: '1.0',
    report_metadata: metadataOf(head),
    policy_published: { domain: head.domain, ...publishedPolicy(tags) },
    record: results.map(recordOf),
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${BUILDER.build({ feedback })}`;
}

function metadataOf({ hostname, contact, reportId, begin, end }: ReportHead): object {
  return {
    org_name: hostname,
    email: contact,
    report_id: reportId,
    date_range: { begin: Math.floor(begin / 1000), end: Math.floor(end / 1000) },
    generator: 'Mailstead',
  };
}

/** Values of the record that the schema permits. */
function publishedPolicy(tags: ReadonlyMap<string, string>): object {
  const value = (name: string, allowed: readonly string[]): Record<string, string> => {
    const text = tags.get(name)?.toLowerCase() ?? '';
    return allowed.includes(text) ? { [name]: text } : {};
  };
  return {
    p: 'none',
    ...value('p', POLICIES),
    ...value('sp', POLICIES),
    ...value('np', POLICIES),
    ...value('adkim', ['r', 's']),
    ...value('aspf', ['r', 's']),
    discovery_method: 'treewalk',
    testing: tags.get('t')?.toLowerCase() === 'y' ? 'y' : 'n',
  };
}

function recordOf(one: AggregateRow): object {
  const { source, messages, disposition, spf, dkim, reason, headerFrom, envelopeFrom, auth } = one;
  return {
    row: {
      source_ip: source,
      count: messages,
      policy_evaluated: {
        disposition,
        dkim: dkim ? 'pass' : 'fail',
        spf: spf ? 'pass' : 'fail',
        ...(reason !== '' && { reason: { type: reason } }),
      },
    },
    identifiers: { header_from: headerFrom, envelope_from: envelopeFrom },
    auth_results: {
      dkim: auth.dkim,
      ...(auth.spf && { spf: { domain: auth.spf.domain, scope: 'mfrom', result: auth.spf.result } }),
    },
  };
}
