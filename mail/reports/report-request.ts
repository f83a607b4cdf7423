import { isDmarc, readLoosely } from '../auth/dmarc-record.ts';
import { walkDnsTree } from '../auth/dmarc-walk.ts';
import type { Lookup, Resolver } from '../dns/lookup.ts';
import { isDnsName, isWithin } from '../dns/name.ts';
import { type ReportDestination, parseReportUris } from './report-uris.ts';

/** A domain's request for reports. */
export type ReportRequest =
  | { kind: 'found'; destinations: readonly ReportDestination[]; tags: ReadonlyMap<string, string> }
  /** No record, or no usable destination. */
  | { kind: 'none' }
  /** The hosts of all destinations refuse reports about this domain. */
  | { kind: 'unauthorized' }
  | { kind: 'trouble'; why: string };

/** Looks up who gets the aggregate reports about a domain with a DMARC record. RFC 9990 3.5, 4. */
export async function findDmarcRequest(domain: string, resolver: Resolver): Promise<ReportRequest> {
  const request = findRequest(await resolver.txt(`_dmarc.${domain}`), isDmarc);
  if (request.kind !== 'found') return request;
  const mails = request.destinations.filter((one) => one.kind === 'mail');
  const checked = await Promise.all(mails.map((one) => authorizedDestination(domain, one, resolver)));
  const trouble = checked.find((one) => one !== undefined && 'why' in one);
  if (trouble !== undefined) return { kind: 'trouble', why: trouble.why };
  const destinations = checked.flatMap((one) => (one === undefined || 'why' in one ? [] : [one]));
  if (destinations.length > 0) return { ...request, destinations };
  return { kind: mails.length === 0 ? 'none' : 'unauthorized' };
}

/** Looks up who gets the TLS reports about a domain. RFC 8460 3. */
export async function findTlsRequest(domain: string, resolver: Resolver): Promise<ReportRequest> {
  if (!isDnsName(`_smtp._tls.${domain}`) || domain.startsWith('[')) return { kind: 'none' };
  const found = await resolver.txt(`_smtp._tls.${domain}`);
  return findRequest(found, (text) => /^v=TLSRPTv1[ \t]{0,20}(?:;|$)/.test(text));
}

const MAX_RECORD_CHARS = 4096;

/** Reads the one record of a version; several count as none. */
function findRequest(found: Lookup<string>, isRecord: (text: string) => boolean): ReportRequest {
  if (found.kind === 'trouble') return { kind: 'trouble', why: found.why };
  const records = found.kind === 'found' ? found.records.filter(isRecord) : [];
  const [record] = records;
  if (record === undefined || records.length > 1 || record.length > MAX_RECORD_CHARS) return { kind: 'none' };
  const tags = readLoosely(record);
  const destinations = parseReportUris(tags.get('rua') ?? '');
  return destinations.length === 0 ? { kind: 'none' } : { kind: 'found', destinations, tags };
}

/**
 * Returns a destination of another organization only if its host publishes `DOMAIN._report._dmarc.HOST`: else anyone could
 * direct reports at a stranger. That record may name another address of the same host. RFC 9990 4.
 */
async function authorizedDestination(
  domain: string,
  destination: ReportDestination & { kind: 'mail' },
  resolver: Resolver,
): Promise<ReportDestination | { why: string } | undefined> {
  const host = destination.address.domain;
  if (isWithin(host, domain)) return destination;
  const [own, other] = await Promise.all([walkDnsTree(domain, resolver), walkDnsTree(host, resolver)]);
  if (own.lookupFailed || other.lookupFailed) return { why: `the organization of ${host} could not be determined` };
  if (own.organization === other.organization) return destination;
  const name = `${domain}._report._dmarc.${host}`;
  if (!isDnsName(name)) return undefined;
  const found = await resolver.txt(name);
  if (found.kind === 'trouble') return { why: found.why };
  const [record, ...more] = found.kind === 'found' ? found.records.filter(isDmarc) : [];
  if (record === undefined || more.length > 0 || record.length > MAX_RECORD_CHARS) return undefined;
  const [instead] = parseReportUris(readLoosely(record).get('rua') ?? '').filter(
    (one) => one.kind === 'mail' && one.address.domain === host,
  );
  return instead ?? destination;
}
