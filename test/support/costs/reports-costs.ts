import { parseDmarcXml } from '../../../mail/reports/dmarc-xml.ts';
import { readReportMessage } from '../../../mail/reports/read-report.ts';
import { parseReportUris } from '../../../mail/reports/report-uris.ts';
import { parseTlsJson } from '../../../mail/reports/tls-json.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { countOf, domainText, cleanReportText, scalarText } from '../../../mail/reports/values.ts';
import { caught, costs, type CostGroup, type CostRow, driven, octets } from './row.ts';

const group: CostGroup = {
  at: 'mail/reports',
  input: 'DMARC and TLS reports',
  bound: '8 MiB unpacked, 20,000 rows, depth 20',
  thread: 'documents',
};

const RECORD = '<record><row><source_ip>192.0.2.1</source_ip><count>1</count></row></record>';
const HEAD = '<feedback><policy_published><domain>a.example</domain></policy_published>';
const DETAIL = '{"result-type":"certificate-expired","failed-session-count":1},';

function reportOf(text: string): unknown {
  const message = octets(`Content-Type: text/xml\r\n\r\n${text}`);
  return readReportMessage({ octets: message, parts: indexMessage(message).parts });
}

const xml = (inner: string): unknown => caught(() => parseDmarcXml(`${HEAD}${inner}</feedback>`));

/**
 * Functions that read reports of other servers. Not up to their bound of 8 MiB: texts leave the caches of the processor in
 * more than one step there.
 */
export const REPORTS_COSTS: readonly CostRow[] = costs(group, {
  readReportMessage: driven(reportOf, {
    worst: ['<feedback>', '{', '\x1f\x8b', 'PK\x03\x04', '\ufeff', ' '],
  }),
  'parseDmarcXml: records': driven(xml, {
    worst: [
      RECORD,
      '<record/>',
      '<record>',
      '</record>',
      '<dkim/>',
      '<a>',
      '<!--',
      '<![CDATA[',
      '<?',
      '&amp;',
      '<a b="',
    ],
  }),
  'parseDmarcXml: whole': driven((text) => caught(() => parseDmarcXml(text)), {
    worst: ['<!DOCTYPE', 'feedback>', '<feedback>', ' '],
  }),
  parseTlsJson: driven((text) => caught(() => parseTlsJson(text)), { worst: ['[', '{"a":', '"', '\\u0000'] }),
  'parseTlsJson: details': driven(
    (text) =>
      caught(() =>
        parseTlsJson(`{"policies":[{"policy":{"policy-domain":"a.example"},"failure-details":[${text}{}]}]}`),
      ),
    { worst: [DETAIL, '{},', '[],', '"",'] },
  ),
  parseReportUris: driven(parseReportUris, {
    input: 'rua= of a stranger',
    bound: '4,096 characters, 5 destinations',
    worst: ['mailto:a@b.example!1k,', ',', 'https://', '!', '%41', ' '],
  }),
  cleanReportText,
  domainText: driven(domainText, { worst: ['a.', 'xn--', '\u00fc'] }),
  countOf,
  scalarText,
});
