import { randomBytes } from 'node:crypto';
import type { SystemNotice } from '../../mail/delivery/notice.ts';
import { type Address, formatAddress, needsUtf8 } from '../../mail/message/address.ts';
import { base64Lines } from '../../mail/message/compose-message.ts';
import { formatField, messageHeader, textEntity } from '../../mail/message/compose-text.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import type { ReportHead } from '../../mail/reports/write-dmarc.ts';
import type { SentReportKind } from '../../mail/store/queue/sent-report.ts';
import type { NoticeContext } from '../notices/compose.ts';
import { BOX } from '../notices/compose.ts';

/** A packed report. */
export interface PackedReport extends ReportHead {
  /** Compressed by gzip. */
  octets: Uint8Array;
}

/** Composes the message with a report, to all addresses at once. RFC 9990 3.5.2, RFC 8460 5.3. */
export function composeReport<Kind extends SentReportKind>(
  context: Pick<NoticeContext, 'store' | 'clock' | 'hold' | 'settings'>,
  kind: Kind,
  report: PackedReport,
  to: readonly Address[],
): SystemNotice<`${Kind}-report`> {
  const { store, clock, settings, hold } = context;
  const { hostname } = settings;
  const data = Uint8Array.from(reportMessage(kind, report, to, clock()));
  return {
    kind: `${kind}-report`,
    trace: traceId(),
    account: null,
    tenant: BOX,
    sender: '',
    smtputf8: to.some(needsUtf8),
    eightBit: false,
    ret: '',
    envid: '',
    signAs: [hostname],
    here: [],
    elsewhere: to.map((address) => ({
      recipient: formatAddress(address),
      domain: address.domain,
      notify: '',
      orcpt: '',
    })),
    hold,
    data,
    file: null,
    index: indexMessage(data, store.secretLinks),
  };
}

function reportMessage(kind: SentReportKind, report: PackedReport, to: readonly Address[], now: number): Buffer {
  const { hostname, domain, reportId } = report;
  const boundary = `=_${randomBytes(18).toString('hex')}`;
  const header = messageHeader({
    from: { name: 'Mailstead', address: { local: 'mailstead', domain: hostname } },
    to: to.map((address) => ({ address })),
    subject: `Report Domain: ${domain} Submitter: ${hostname} Report-ID: <${reportId}>`,
    date: now,
    messageId: `<${randomBytes(16).toString('hex')}@${hostname}>`,
    headers: [['Auto-Submitted', 'auto-generated'], ...tlsFields(kind, report)],
  });
  const subtype = kind === 'tls' ? 'report; report-type="tlsrpt"' : 'mixed';
  const parts = [textEntity(introduction(kind, report)), attachment(kind, report)];
  const body = parts.map((part) => `--${boundary}\r\n${part}`).join('');
  return Buffer.from(
    `${header}${formatField('Content-Type', `multipart/${subtype}; boundary="${boundary}"`)}\r\n${body}--${boundary}--\r\n`,
  );
}

/** A TLS report is delivered although TLS fails: its failure is what it reports. RFC 8460 3, RFC 8689 5. */
function tlsFields(kind: SentReportKind, { domain, hostname }: PackedReport): [string, string][] {
  if (kind === 'dmarc') return [];
  return [
    ['TLS-Report-Domain', domain],
    ['TLS-Report-Submitter', hostname],
    ['TLS-Required', 'No'],
  ];
}

function introduction(kind: SentReportKind, { domain, hostname, begin, contact }: PackedReport): string {
  const what = kind === 'tls' ? 'TLS report (RFC 8460)' : 'DMARC aggregate report (RFC 9990)';
  const day = new Date(begin).toISOString().slice(0, 10);
  return [
    `This is the ${what} about ${domain} for ${day} (UTC),`,
    `sent by ${hostname} because the DNS of the domain asks for it.`,
    `Questions: ${contact}`,
  ].join('\r\n');
}

function attachment(kind: SentReportKind, { octets, hostname, domain, begin, end }: PackedReport): string {
  const seconds = [begin, end].map((ms) => Math.floor(ms / 1000));
  const [type, extension] = kind === 'tls' ? ['application/tlsrpt+gzip', 'json.gz'] : ['application/gzip', 'xml.gz'];
  const filename = [hostname, domain, ...seconds].join('!');
  return [
    `Content-Type: ${type}`,
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment;\r\n filename="${filename}.${extension}"`,
    '',
    base64Lines(octets),
  ].join('\r\n');
}
