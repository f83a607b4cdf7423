import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { hostedDomains } from '../../mail/store/address/domain.ts';
import { dmarcResults } from '../../mail/store/filter/dmarc-result.ts';
import type { ReportKey, ReportOutcome } from '../../mail/store/queue/sent-report.ts';
import { type PolicyReport, tlsResults } from '../../mail/store/queue/tls-result.ts';
import { findDmarcRequest, findTlsRequest, type ReportRequest } from '../../mail/reports/report-request.ts';
import type { ReportDestination } from '../../mail/reports/report-uris.ts';
import { type ReportHead, writeDmarcXml } from '../../mail/reports/write-dmarc.ts';
import { writeTlsJson } from '../../mail/reports/write-tls.ts';
import type { AreaContext } from '../core/area-context.ts';
import type { PackedReport } from './outgoing-message.ts';

export type OutgoingReportContext = Pick<
  AreaContext,
  'store' | 'resolver' | 'lookNow' | 'settings' | 'clock' | 'hold' | 'log' | 'metrics'
>;

/** A report with its destinations, or why there is none. `retry`: a lookup failed. */
export type PreparedReport =
  | { kind: 'report'; report: PackedReport; destinations: readonly ReportDestination[] }
  | { kind: 'closed'; outcome: ReportOutcome }
  | { kind: 'retry'; why: string };

const DAY_MS = 24 * 3_600_000;
/** Base64 and the header around an attachment. */
const MAIL_OVERHEAD = 1.4;
const pack = promisify(gzip);

/** Prepares the report about a domain and day: looks up who asks for it, then reads and packs the results. */
export async function prepareReport(context: OutgoingReportContext, key: ReportKey): Promise<PreparedReport> {
  const { store, resolver } = context;
  // The owners of a domain that is hosted here see its mail in the portal, and the report would only come back.
  if ((await store.read(hostedDomains, { names: [key.domain] })).length > 0) return closed('none');
  const request = await (key.kind === 'dmarc' ? findDmarcRequest : findTlsRequest)(key.domain, resolver);
  if (request.kind === 'trouble') return { kind: 'retry', why: request.why };
  if (request.kind !== 'found') return closed(request.kind);
  const report = await packedReport(context, key, request);
  const destinations = await remoteDestinations(context, request.destinations);
  if (destinations.length === 0) return closed('none');
  const fitting = destinations.filter((one) => fits(one, report.octets.byteLength));
  return fitting.length === 0 ? closed('too-large') : { kind: 'report', report, destinations: fitting };
}

/** Leaves out addresses of this server. */
async function remoteDestinations(
  { store }: OutgoingReportContext,
  all: readonly ReportDestination[],
): Promise<ReportDestination[]> {
  const names = all.flatMap((one) => (one.kind === 'mail' ? [one.address.domain] : []));
  const own = await store.read(hostedDomains, { names });
  return all.filter((one) => one.kind === 'https' || !own.includes(one.address.domain));
}

function closed(outcome: ReportOutcome): PreparedReport {
  return { kind: 'closed', outcome };
}

function fits({ kind, maxOctets = Infinity }: ReportDestination, octets: number): boolean {
  return octets * (kind === 'mail' ? MAIL_OVERHEAD : 1) <= maxOctets;
}

async function packedReport(
  context: OutgoingReportContext,
  key: ReportKey,
  request: ReportRequest & { kind: 'found' },
): Promise<PackedReport> {
  const { store } = context;
  const head = headOf(context, key);
  if (key.kind === 'dmarc') {
    const results = await store.read(dmarcResults, key);
    return { ...head, octets: await pack(writeDmarcXml(head, request.tags, results)) };
  }
  const policies: PolicyReport[] = await store.read(tlsResults, { ...key, after: '', limit: 1 });
  return { ...head, octets: await pack(writeTlsJson(head, policies)) };
}

function headOf({ settings: { hostname } }: OutgoingReportContext, { kind, day, domain }: ReportKey): ReportHead {
  const begin = day * DAY_MS;
  const date = new Date(begin).toISOString().slice(0, 10);
  const contact = `postmaster@${hostname}`;
  // The same for a repeated report, so that its reader counts it once.
  return {
    hostname,
    contact,
    domain,
    begin,
    end: begin + DAY_MS - 1000,
    reportId: `${date}.${kind}.${domain}@${hostname}`,
  };
}
