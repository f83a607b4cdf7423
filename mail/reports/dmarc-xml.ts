import { isIP } from 'node:net';
import { XMLParser } from 'fast-xml-parser';
import { isWithin } from '../dns/name.ts';
import { type DmarcReport, type DmarcSum, MAX_REPORT_ROWS, MAX_REPORT_SUMS, ReportUnreadable } from './report-types.ts';
import { boundedSums, countOf, domainText, cleanReportText, scalarText } from './values.ts';

type Element = Readonly<Record<string, unknown>>;

/** Elements that may be repeated: always parsed as lists. */
const LISTS = new Set(['record', 'dkim', 'spf', 'reason']);
const MAX_DEPTH = 20;
/** Results of one kind that are read of a record. */
const MAX_RESULTS = 20;
/** RFC 7489 appendix C, RFC 9990: types of PolicyOverrideReason. */
const OVERRIDES = new Set([
  'forwarded',
  'sampled_out',
  'trusted_forwarder',
  'mailing_list',
  'local_policy',
  'policy_test_mode',
  'other',
]);

/** Without entities, attributes and conversion of values; namespace prefixes are dropped. Linear in its input. */
const PARSER = new XMLParser({
  ignoreAttributes: true,
  processEntities: false,
  parseTagValue: false,
  removeNSPrefix: true,
  maxNestedTags: MAX_DEPTH,
  isArray: (name) => LISTS.has(name),
});

/**
 * Parses a DMARC aggregate report. RFC 7489 appendix C. Elements that reporters leave out or fill in differently have
 * defaults; a report without domain, dates or records throws {@link ReportUnreadable}.
 */
export function parseDmarcXml(xml: string): DmarcReport {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) throw new ReportUnreadable('it declares a document type, which is not read');
  // The parser takes the end of the text for that of all open elements.
  if (!xml.trimEnd().endsWith('feedback>')) throw new ReportUnreadable('its XML is broken (no end of <feedback>)');
  const feedback = elementAt(parsed(xml), 'feedback');
  const [metadata, published] = [elementAt(feedback, 'report_metadata'), elementAt(feedback, 'policy_published')];
  const records = listAt(feedback, 'record');
  if (records.length === 0) throw new ReportUnreadable('it has no element <record> in <feedback>');
  if (records.length > MAX_REPORT_ROWS) throw new ReportUnreadable(`it has more than ${MAX_REPORT_ROWS} records`);
  const domain = domainText(published['domain']) || domainText(elementAt(records[0], 'identifiers')['header_from']);
  if (domain === '') throw new ReportUnreadable('it names no domain in <policy_published>');
  const range = elementAt(metadata, 'date_range');
  return {
    kind: 'dmarc',
    organization: cleanReportText(metadata['org_name']) || cleanReportText(metadata['email']),
    reportId: cleanReportText(metadata['report_id']),
    domain,
    ...datesOf(range['begin'], range['end']),
    policy: cleanReportText(published['p']),
    sums: sumsOf(records, domain),
  };
}

function parsed(xml: string): Element {
  try {
    return asElement(PARSER.parse(xml));
  } catch (error) {
    const why = error instanceof Error ? cleanReportText(error.message) : '';
    throw new ReportUnreadable(`its XML is broken (${why})`);
  }
}

/** Seconds since 1970; some reporters write milliseconds. */
function datesOf(begin: unknown, end: unknown): { begin: number; end: number } {
  const first = timeOf(begin);
  if (first === undefined) throw new ReportUnreadable('it has no date in <date_range>');
  return { begin: first, end: Math.max(first, timeOf(end) ?? first) };
}

function timeOf(value: unknown): number | undefined {
  const number = Number(scalarText(value) || Number.NaN);
  if (!Number.isFinite(number) || number <= 0) return undefined;
  return Math.floor(number < 100_000_000_000 ? number * 1000 : number);
}

function sumsOf(records: readonly Element[], domain: string): DmarcSum[] {
  const sums = new Map<string, DmarcSum>();
  for (const record of records) {
    const sum = sumOf(record, domain);
    const key = JSON.stringify({ ...sum, messages: 0 });
    const there = sums.get(key);
    if (there === undefined) sums.set(key, sum);
    else there.messages += sum.messages;
  }
  return boundedSums(sums, MAX_REPORT_SUMS, {
    count: (sum) => sum.messages,
    add: (sum, messages) => (sum.messages += messages),
    combine: (sum) => ({ ...sum, source: '', headerFrom: domain, spfDomain: '', dkimDomain: '', override: '' }),
  });
}

function sumOf(record: Element, domain: string): DmarcSum {
  const row = elementAt(record, 'row');
  const evaluated = elementAt(row, 'policy_evaluated');
  const auth = elementAt(record, 'auth_results');
  const headerFrom = domainText(elementAt(record, 'identifiers')['header_from']) || domain;
  const [spf, dkim] = [bestResult(auth, 'spf', headerFrom), bestResult(auth, 'dkim', headerFrom)];
  const source = scalarText(row['source_ip']).toLowerCase();
  return {
    source: isIP(source) === 0 ? '' : source,
    headerFrom,
    spf: evaluatedAs(evaluated, 'spf') ?? spf.aligned,
    dkim: evaluatedAs(evaluated, 'dkim') ?? dkim.aligned,
    disposition: dispositionOf(evaluated),
    override: overrideOf(evaluated),
    spfDomain: spf.domain,
    dkimDomain: dkim.domain,
    // A row without a count is about one message.
    messages: countOf(row['count']) ?? 1,
  };
}

/** The aligned result of <policy_evaluated>; undefined where the reporter left it out. */
function evaluatedAs(evaluated: Element, method: 'spf' | 'dkim'): boolean | undefined {
  const [text] = wordsOf(evaluated[method]);
  return text === undefined ? undefined : text === 'pass';
}

function dispositionOf(evaluated: Element): DmarcSum['disposition'] {
  const text = scalarText(evaluated['disposition']).toLowerCase();
  return text === 'quarantine' || text === 'reject' ? text : 'none';
}

function overrideOf(evaluated: Element): string {
  const [reason] = listAt(evaluated, 'reason');
  const type = scalarText(reason?.['type']).toLowerCase();
  return type === '' ? '' : OVERRIDES.has(type) ? type : 'other';
}

/** Chooses the result to show: one that passes for an aligned domain, else one that passes, else the first. */
function bestResult(auth: Element, method: 'spf' | 'dkim', headerFrom: string): { domain: string; aligned: boolean } {
  const all = listAt(auth, method)
    .slice(0, MAX_RESULTS)
    .map((one) => ({ domain: domainText(one['domain']), passes: scalarText(one['result']).toLowerCase() === 'pass' }));
  const isAligned = (name: string): boolean =>
    name !== '' && (isWithin(name, headerFrom) || isWithin(headerFrom, name));
  const aligned = all.find(({ domain, passes }) => passes && isAligned(domain));
  const best = aligned ?? all.find(({ passes }) => passes) ?? all[0];
  return { domain: best?.domain ?? '', aligned: aligned !== undefined };
}

function wordsOf(value: unknown): string[] {
  const all: unknown[] = Array.isArray(value) ? value : [value];
  return all.map((one) => scalarText(one).toLowerCase()).filter((text) => text !== '');
}

function asElement(value: unknown): Element {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Element) : {};
}

function elementAt(parent: Element | undefined, name: string): Element {
  return asElement(parent?.[name]);
}

function listAt(parent: Element, name: string): Element[] {
  const value = parent[name];
  return Array.isArray(value) ? value.map(asElement) : [];
}
