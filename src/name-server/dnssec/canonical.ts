import { type Answer, encode } from 'dns-packet';

const HEADER = 12;
/** Type, class, TTL and the length of the data. */
const FIXED = 10;

/** A record on the wire. */
export interface RecordOctets {
  whole: Buffer;
  /** RDATA. */
  data: Buffer;
}

/** Canonical form of a record: names uncompressed and in lower case. RFC 4034 6.2. */
export function canonicalRecord(record: Answer): RecordOctets {
  const whole = encode({ type: 'response', id: 0, answers: [lowered(record)] }).subarray(HEADER);
  return { whole, data: whole.subarray(nameLength(whole) + FIXED) };
}

/** A name on the wire, in lower case. RFC 1035 3.1. */
export function nameOctets(name: string): Buffer {
  const whole = canonicalRecord({ type: 'A', name, data: '0.0.0.0' }).whole;
  return whole.subarray(0, nameLength(whole));
}

/** Number of labels, without a leading `*`. RFC 4034 3.1.3. */
export function signedLabels(name: string): number {
  const labels = name.split('.').filter((label) => label !== '');
  return labels[0] === '*' ? labels.length - 1 : labels.length;
}

function nameLength(octets: Buffer): number {
  let at = 0;
  while ((octets[at] ?? 0) > 0) at += 1 + (octets[at] ?? 0);
  return at + 1;
}

/** RFC 4034 6.2, of the types that are served here. RFC 6840 5.1: not the next name of NSEC. */
function lowered(record: Answer): Answer {
  const name = record.name.toLowerCase();
  if (record.type === 'NS' || record.type === 'CNAME') return { ...record, name, data: record.data.toLowerCase() };
  if (record.type === 'MX')
    return { ...record, name, data: { ...record.data, exchange: record.data.exchange.toLowerCase() } };
  if (record.type === 'SRV')
    return { ...record, name, data: { ...record.data, target: record.data.target.toLowerCase() } };
  if (record.type !== 'SOA') return { ...record, name };
  const { mname, rname } = record.data;
  return { ...record, name, data: { ...record.data, mname: mname.toLowerCase(), rname: rname.toLowerCase() } };
}
