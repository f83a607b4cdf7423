import { gzipSync } from 'node:zlib';
import { zipOf } from './archives.ts';
import { Random } from './random.ts';

/** Reporters of which public samples exist, with what each does differently. */
const REPORTERS = ['google', 'microsoft', 'yahoo', 'fastmail', 'mailru', 'rfc7489', 'rfc9990', 'small'] as const;
type Reporter = (typeof REPORTERS)[number];

const DAY_MS = 24 * 3600_000;

interface ReportRow {
  source: string;
  count: number;
  spf: boolean;
  dkim: boolean;
}

/** Results of one source, counted beside the parser. */
export interface ExpectedSum {
  messages: number;
  passed: number;
}

/** A report as a message, and what it reports. */
export interface GeneratedReport {
  message: string;
  kind: 'dmarc' | 'tls';
  /** Day since 1970 that it is about. */
  day: number;
  /** By source, or by result. */
  expected: Map<string, ExpectedSum>;
}

/** Makes reports of the shapes that large reporters send, the same ones for the same seed. */
export class ReportGenerator {
  readonly #random: Random;
  readonly #domain: string;
  readonly #now: number;
  #number = 0;

  constructor(seed: number, domain: string, now: number) {
    this.#random = new Random(seed);
    this.#domain = domain;
    this.#now = now;
  }

  next(): GeneratedReport {
    this.#number += 1;
    return this.#random.chance(0.2) ? this.#tls() : this.#dmarc(this.#random.one(REPORTERS));
  }

  #dmarc(reporter: Reporter): GeneratedReport {
    const rows = Array.from({ length: 1 + this.#random.below(30) }, () => this.#row());
    const begin = this.#begin();
    const xml = this.#xml(reporter, rows, begin);
    const expected = new Map<string, ExpectedSum>();
    for (const { source, count, spf, dkim } of rows) add(expected, source, count, spf || dkim);
    const name = `${reporter}.example!${this.#domain}!1!2!${this.#number}.xml`;
    const message = this.#message(this.#packed(reporter, name, Buffer.from(xml)));
    return { kind: 'dmarc', day: dayOf(begin), expected, message };
  }

  #row(): ReportRow {
    const n = this.#random.below(200);
    const source = this.#random.chance(0.2) ? `2001:db8::${(n + 1).toString(16)}` : `203.0.113.${n + 1}`;
    const [spf, dkim] = [this.#random.chance(0.7), this.#random.chance(0.7)];
    return { source, count: 1 + this.#random.below(500), spf, dkim };
  }

  /** Begin of a day within the last month, s. */
  #begin(): number {
    const day = Math.floor(this.#now / DAY_MS) - 1 - this.#random.below(28);
    return (day * DAY_MS) / 1000;
  }

  #xml(reporter: Reporter, rows: readonly ReportRow[], begin: number): string {
    const namespace = {
      rfc7489: ' xmlns="http://dmarc.org/dmarc-xml/0.1"',
      rfc9990: ' xmlns="urn:ietf:params:xml:ns:dmarc-2.0"',
    };
    const head = reporter === 'yahoo' ? '<?xml version="1.0"?>' : '<?xml version="1.0" encoding="UTF-8" ?>';
    const root = reporter in namespace ? namespace[reporter as keyof typeof namespace] : '';
    const version = ['rfc7489', 'rfc9990', 'fastmail', 'microsoft'].includes(reporter) ? '<version>1.0</version>' : '';
    const bom = reporter === 'small' ? '\ufeff' : '';
    // mail.ru leaves out the policy's alignment and percentage; small reporters have no contact.
    const contact = reporter === 'small' ? '' : `<email>noreply@${reporter}.example</email>`;
    const published =
      reporter === 'mailru'
        ? `<domain>${this.#domain}</domain><p>none</p>`
        : `<domain>${this.#domain}</domain><adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp><pct>100</pct>`;
    return `${bom}${head}\n<feedback${root}>${version}
  <report_metadata><org_name>${reporter}.example</org_name>${contact}
    <report_id>${reporter}-${this.#number}</report_id>
    <date_range><begin>${begin}</begin><end>${begin + 86_399}</end></date_range></report_metadata>
  <policy_published>${published}</policy_published>
${rows.map((row) => this.#record(reporter, row)).join('\n')}
</feedback>\n`;
  }

  #record(reporter: Reporter, { source, count, spf, dkim }: ReportRow): string {
    const word = (passes: boolean): string => (passes ? 'pass' : this.#random.one(['fail', 'none', 'temperror']));
    // Yahoo upper-cases nothing but leaves blanks; Microsoft names the recipient's domain.
    const blank = reporter === 'yahoo' ? ' ' : '';
    const override =
      reporter === 'google' && !spf && this.#random.chance(0.5)
        ? '<reason><type>local_policy</type><comment>arc=pass &amp; trusted</comment></reason>'
        : '';
    const envelope = reporter === 'microsoft' ? '<envelope_to>outlook.example</envelope_to>' : '';
    const second = this.#random.chance(0.3) ? signature('esp.example', 'pass') : '';
    const signed = dkim || this.#random.chance(0.5) ? signature(this.#domain, word(dkim)) : '';
    const scope = ['fastmail', 'microsoft', 'rfc9990'].includes(reporter) ? '<scope>mfrom</scope>' : '';
    const auth = `${second}${signed}<spf><domain>${this.#domain}</domain>${scope}<result>${word(spf)}</result></spf>`;
    // Small reporters leave the evaluation to the reader.
    const evaluated =
      reporter === 'small'
        ? '<policy_evaluated><disposition>none</disposition></policy_evaluated>'
        : `<policy_evaluated><disposition>none</disposition><dkim>${dkim ? 'pass' : 'fail'}</dkim><spf>${spf ? 'pass' : 'fail'}</spf>${override}</policy_evaluated>`;
    return `  <record><row><source_ip>${blank}${source}${blank}</source_ip><count>${count}</count>${evaluated}</row>
    <identifiers>${envelope}<header_from>${this.#domain}</header_from></identifiers>
    <auth_results>${auth}</auth_results></record>`;
  }

  /** Headers of the part, and its octets. */
  #packed(reporter: Reporter, name: string, xml: Buffer): { type: string; name: string; octets: Buffer } {
    if (reporter === 'google' || reporter === 'rfc9990') {
      return { type: 'application/zip', name: `${name}.zip`, octets: zipOf([{ name, data: xml }]) };
    }
    if (reporter === 'small') return { type: 'text/xml', name, octets: xml };
    const type = reporter === 'microsoft' ? 'application/octet-stream' : 'application/gzip';
    return { type, name: `${name}.gz`, octets: gzipSync(xml) };
  }

  #tls(): GeneratedReport {
    const begin = this.#begin() * 1000;
    const expected = new Map<string, ExpectedSum>();
    const good = this.#random.below(1000);
    const failures = Array.from({ length: this.#random.below(4) }, () => ({
      'result-type': this.#random.one([
        'certificate-expired',
        'starttls-not-supported',
        'sts-policy-invalid',
        'new-type',
      ]),
      'sending-mta-ip': '198.51.100.7',
      'receiving-mx-hostname': 'mx.box.test',
      'failed-session-count': 1 + this.#random.below(20),
    }));
    if (good > 0) add(expected, 'success', good, true);
    for (const { 'result-type': type, 'failed-session-count': count } of failures) {
      add(expected, type === 'new-type' ? 'other' : type, count, false);
    }
    const failed = failures.reduce((sum, one) => sum + one['failed-session-count'], 0);
    const report = {
      'organization-name': this.#random.one(['Google Inc.', 'Microsoft Corporation', 'Small, GmbH']),
      'date-range': {
        'start-datetime': new Date(begin).toISOString(),
        'end-datetime': new Date(begin + DAY_MS - 1000).toISOString(),
      },
      'contact-info': 'smtp-tls-reporting@google.example',
      'report-id': `tls-${this.#number}`,
      policies: [
        {
          policy: { 'policy-type': 'sts', 'policy-string': ['version: STSv1'], 'policy-domain': this.#domain },
          summary: { 'total-successful-session-count': good, 'total-failure-session-count': failed },
          ...(failures.length > 0 && { 'failure-details': failures }),
        },
      ],
    };
    const octets = Buffer.from(JSON.stringify(report));
    const part = this.#random.chance(0.8)
      ? { type: 'application/tlsrpt+gzip', name: 'report.json.gz', octets: gzipSync(octets) }
      : { type: 'application/tlsrpt+json', name: 'report.json', octets };
    return { kind: 'tls', day: dayOf(begin / 1000), expected, message: this.#message(part) };
  }

  #message(part: { type: string; name: string; octets: Buffer }): string {
    return reportMessage(part, this.#domain, this.#number);
  }
}

const dayOf = (seconds: number): number => Math.floor((seconds * 1000) / DAY_MS);

/** A message with one part that may be a report. */
export function reportMessage(
  { type, name, octets }: { type: string; name: string; octets: Buffer },
  domain: string,
  number = 1,
): string {
  const body = octets.toString('base64').replace(/.{76}/g, '$&\r\n');
  return [
    'From: noreply@reporter.example',
    `To: mailstead-reports@${domain}`,
    `Subject: Report domain: ${domain}`,
    `Message-ID: <report-${number}@reporter.example>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'This is a report.',
    '--b',
    `Content-Type: ${type}; name="${name}"`,
    `Content-Disposition: attachment; filename="${name}"`,
    'Content-Transfer-Encoding: base64',
    '',
    body,
    '--b--',
    '',
  ].join('\r\n');
}

function signature(domain: string, result: string): string {
  return `<dkim><domain>${domain}</domain><selector>s1</selector><result>${result}</result></dkim>`;
}

function add(all: Map<string, ExpectedSum>, key: string, messages: number, passes: boolean): void {
  const there = all.get(key) ?? { messages: 0, passed: 0 };
  all.set(key, { messages: there.messages + messages, passed: there.passed + (passes ? messages : 0) });
}
