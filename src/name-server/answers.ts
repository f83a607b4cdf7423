import type { Answer } from 'dns-packet';
import { packetRecord, soaRecord, type ZoneAnswer } from './zone.ts';

export const CODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;

export interface DnsResponse {
  code: number;
  authoritative: boolean;
  answers: readonly Answer[];
  authorities: readonly Answer[];
}

/** Response of a zone without signatures. `answers`: records that the zone has beside its own. */
export function plainResponse(
  zone: ZoneAnswer,
  name: string,
  type: string,
  answers: readonly Answer[] = answersOf(zone, name, type),
): DnsResponse {
  return {
    code: zone.exists || answers.length > 0 ? CODES.NOERROR : CODES.NXDOMAIN,
    authoritative: true,
    answers,
    authorities: answers.length === 0 ? [soaRecord(zone)] : [],
  };
}

/** RFC 8482 4.2: a minimal response to ANY, against amplification. */
export function minimalAnswer(name: string): Answer {
  return { name, type: 'HINFO', ttl: 3600, class: 'IN', data: { cpu: 'RFC8482', os: '' } };
}

export function answersOf(zone: ZoneAnswer, name: string, type: string): Answer[] {
  if (!zone.exists) return [];
  if (type === 'ANY') return [minimalAnswer(name)];
  if (type === 'SOA') return name.toLowerCase() === zone.apex ? [{ ...soaRecord(zone), name }] : [];
  const alias = zone.records.find((record) => record.type === 'CNAME');
  // RFC 1034 3.6.2: the resolver follows it, as its target may be in another zone.
  if (alias !== undefined) return [packetRecord(name, alias)];
  return zone.records.filter((record) => record.type === type).map((record) => packetRecord(name, record));
}
