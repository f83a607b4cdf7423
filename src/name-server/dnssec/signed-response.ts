import type { Answer } from 'dns-packet';
import { answersOf, CODES, type DnsResponse, minimalAnswer, plainResponse } from '../answers.ts';
import { type FindZone, NEGATIVE_TTL, soaRecord, type ZoneAnswer } from '../zone.ts';
import type { ZoneSigner } from './zone-signer.ts';

/** A query for a name of a zone that is served here. */
export interface ZoneQuery {
  zone: ZoneAnswer;
  /** In the case of the query. */
  name: string;
  type: string;
  /** The client wants signatures. RFC 3225. */
  dnssecOk: boolean;
}

/** The meta type that marks a name that does not exist. RFC 9824 3.4. */
const NXNAME = 'UNKNOWN_128';
/** Characters of a name before which a label still fits. RFC 1035 2.3.4. */
const MAX_NAME = 251;
/** Seconds; as that of the keys. */
const DS_TTL = 3600;

/**
 * Response of a signed zone. That a name or a type does not exist is said by one NSEC record for exactly this name (compact
 * denial of existence, RFC 9824), made at the time of the query: nobody can list the names of a zone.
 */
export async function signedResponse(
  { zone, name, type, dnssecOk }: ZoneQuery,
  find: FindZone,
  signer: ZoneSigner,
): Promise<DnsResponse> {
  const nothing = { authoritative: true, answers: [], authorities: [] };
  // RFC 9824 3.5: nobody may ask for the mark itself.
  if (type === NXNAME) return { ...nothing, code: CODES.FORMERR };
  const isApex = name.toLowerCase() === zone.apex;
  // RFC 4035 3.1.4.1: the zone above has the DS record; it may be served here too.
  const above = type === 'DS' && isApex ? await zoneAbove(zone, find) : undefined;
  const source = above ?? zone;
  const own = above === undefined ? ownRecords({ zone, name, type }, isApex, signer) : [dsRecord(zone, name, signer)];
  const plain = plainResponse(source, name, type, own);
  return dnssecOk ? withSignatures(plain, source, name, signer) : plain;
}

function ownRecords(
  { zone, name, type }: Omit<ZoneQuery, 'dnssecOk'>,
  isApex: boolean,
  signer: ZoneSigner,
): readonly Answer[] {
  switch (type) {
    case 'DNSKEY':
      return isApex ? [{ ...signer.keyOf(zone.apex).record, name }] : answersOf(zone, name, type);
    case 'NSEC':
      return nsecRecords(zone, name);
    case 'RRSIG':
      return zone.exists ? [minimalAnswer(name)] : [];
    default:
      return answersOf(zone, name, type);
  }
}

/** The zone here that a zone is cut from; undefined if others serve it. */
async function zoneAbove({ apex }: ZoneAnswer, find: FindZone): Promise<ZoneAnswer | undefined> {
  const parent = await find(apex.slice(apex.indexOf('.') + 1));
  if (parent === undefined || parent.apex === apex) return undefined;
  return { apex: parent.apex, server: parent.server, exists: true, records: [] };
}

function dsRecord({ apex }: ZoneAnswer, name: string, signer: ZoneSigner): Answer {
  return { name, type: 'DS', class: 'IN', ttl: DS_TTL, data: signer.keyOf(apex).delegationSigner };
}

function withSignatures(plain: DnsResponse, zone: ZoneAnswer, name: string, signer: ZoneSigner): DnsResponse {
  const { apex } = zone;
  if (plain.answers.length > 0) return { ...plain, answers: signer.signed(apex, plain.answers) };
  const denial = [[soaRecord(zone)], nsecRecords(zone, name)];
  // RFC 9824 3.1: the mark in the NSEC record takes the place of NXDOMAIN, which would need more proofs.
  return { ...plain, code: CODES.NOERROR, authorities: denial.flatMap((set) => signer.signed(apex, set)) };
}

/** The types of a name; nothing is between it and the next name. None for a name before which no label fits. */
function nsecRecords(zone: ZoneAnswer, queried: string): Answer[] {
  const name = queried.toLowerCase();
  if (name.length > MAX_NAME) return [];
  const rrtypes = [...new Set([...typesOf(zone, name), 'RRSIG', 'NSEC'])];
  return [{ name, type: 'NSEC', class: 'IN', ttl: NEGATIVE_TTL, data: { nextDomain: `\0.${name}`, rrtypes } }];
}

function typesOf(zone: ZoneAnswer, name: string): readonly string[] {
  if (!zone.exists) return [NXNAME];
  const types = zone.records.map(({ type }) => type);
  if (types.includes('CNAME')) return ['CNAME'];
  return name === zone.apex ? [...types, 'SOA', 'DNSKEY'] : types;
}
