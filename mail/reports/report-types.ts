/** Result of DMARC evaluation of messages from one source on one day. Domains are '' where the report has none. */
export interface DmarcSum {
  /** IP address; '' for sources that were combined. */
  source: string;
  /** Domain in From. */
  headerFrom: string;
  /** Passes and is aligned. */
  spf: boolean;
  dkim: boolean;
  disposition: 'none' | 'quarantine' | 'reject';
  /** Reason for another disposition than the policy asks for, RFC 7489 7.2; '' for none. */
  override: string;
  /** Domains that were authenticated, or attempted. */
  spfDomain: string;
  dkimDomain: string;
  messages: number;
}

/** Facts that both kinds of reports have. All texts are a stranger's, cleaned and bounded. */
interface ReportFacts {
  organization: string;
  reportId: string;
  /** Domain that the report is about. */
  domain: string;
  /** ms UTC. */
  begin: number;
  end: number;
}

/** DMARC aggregate report. RFC 7489 7.2, appendix C. */
export interface DmarcReport extends ReportFacts {
  kind: 'dmarc';
  /** Policy that the reporter found. */
  policy: string;
  sums: DmarcSum[];
}

/** Sessions with one result. */
export interface TlsSum {
  policyType: 'tlsa' | 'sts' | 'no-policy-found';
  /** 'success', or a failure type of RFC 8460 4.3; 'other' for an unknown one. */
  result: string;
  /** MX host; '' if unknown. */
  mx: string;
  /** Address of the sending server; '' if unknown. */
  source: string;
  sessions: number;
}

/** SMTP TLS report. RFC 8460 4. */
export interface TlsReport extends ReportFacts {
  kind: 'tls';
  sums: TlsSum[];
}

/** Content of a message to a report address. `why` is a sentence without its full stop. */
export type ReportContent =
  | DmarcReport
  | TlsReport
  /** A failure report about one message (ruf), which is only counted. */
  | { kind: 'failure' }
  | { kind: 'unreadable'; why: string };

/** A report that cannot be read; the message is a sentence without its full stop. */
export class ReportUnreadable extends Error {
  override readonly name = 'ReportUnreadable';
}

/** Octets of an unpacked report: about 20,000 rows, a second of CPU and 150 MB of heap. */
export const MAX_REPORT_OCTETS = 8 * 1024 * 1024;
export const MAX_REPORT_ROWS = 20_000;
/** Distinct results of one report; the smallest ones above it are combined without their source. */
export const MAX_REPORT_SUMS = 400;
