import { createHash } from 'node:crypto';
import { type Answer, encode } from 'dns-packet';
import { lruMap } from '../../../mail/limits/lru-map.ts';
import { canonicalRecord, signedLabels } from './canonical.ts';
import { ALGORITHM, deriveZoneKey, type ZoneKey } from './zone-key.ts';

const DAY = 24 * 3600;
/** A resolver whose clock is two days behind still accepts a signature. Seconds. */
const BEFORE = 2 * DAY;
/** Validity from today on: long enough for a server that is unreachable for days and a clock that is ahead. Seconds. */
const AFTER = 14 * DAY;
const MAX_KEYS = 1000;
/** Signatures kept by their latest use: a popular record is signed once a day, and queries for random names evict each other. */
const MAX_SIGNATURES = 2000;
const HEADER = 12;
/** The root as a name, type, class, TTL and the length of the data. */
const ROOT_AND_FIXED = 11;

export interface ZoneSignerOptions {
  /** Derives 32 octets from a secret of this server, the same ones for the same purpose. */
  derive: (purpose: string) => Buffer;
  /** ms UTC. */
  clock: () => number;
}

/** Signs record sets at the time of the query. RFC 4035 2.2. */
export class ZoneSigner {
  readonly #options: ZoneSignerOptions;
  readonly #keys = lruMap<string, ZoneKey>(MAX_KEYS);
  readonly #signatures = lruMap<string, Buffer>(MAX_SIGNATURES);

  constructor(options: ZoneSignerOptions) {
    this.#options = options;
  }

  /** Key of a zone. */
  keyOf(apex: string): ZoneKey {
    const known = this.#keys.get(apex);
    if (known !== undefined) return known;
    const key = deriveZoneKey(apex, this.#options.derive);
    this.#keys.set(apex, key);
    return key;
  }

  /** A record set with its signature. All records have the same name and type. */
  signed(apex: string, records: readonly Answer[]): Answer[] {
    const [first] = records;
    if (first === undefined || first.type === 'OPT') return [...records];
    const key = this.keyOf(apex);
    const today = Math.floor(this.#options.clock() / 1000 / DAY) * DAY;
    const { name, type, ttl = 0 } = first;
    const data = {
      typeCovered: type,
      algorithm: ALGORITHM,
      labels: signedLabels(name),
      originalTTL: ttl,
      expiration: today + AFTER,
      inception: today - BEFORE,
      keyTag: key.keyTag,
      signersName: apex,
    };
    const signature = this.#signature(key, Buffer.concat([signatureHead(data), ...sortedRecords(records)]));
    return [...records, { name, type: 'RRSIG', class: 'IN', ttl, data: { ...data, signature } }];
  }

  #signature(key: ZoneKey, octets: Buffer): Buffer {
    const id = createHash('sha256').update(octets).digest('base64');
    const known = this.#signatures.get(id);
    if (known !== undefined) return known;
    const signature = key.sign(octets);
    this.#signatures.set(id, signature);
    return signature;
  }
}

type SignatureData = Omit<Extract<Answer, { type: 'RRSIG' }>['data'], 'signature'>;

/** RDATA of the signature without the signature itself. RFC 4034 3.1.8.1. */
function signatureHead(data: SignatureData): Buffer {
  const record = { name: '.', type: 'RRSIG' as const, class: 'IN' as const, ttl: 0 };
  const packet = encode({
    type: 'response',
    id: 0,
    answers: [{ ...record, data: { ...data, signature: Buffer.alloc(0) } }],
  });
  return packet.subarray(HEADER + ROOT_AND_FIXED);
}

/** Canonical order of a set, each record once. RFC 4034 6.3. */
function sortedRecords(records: readonly Answer[]): Buffer[] {
  const sorted = records.map(canonicalRecord).toSorted((a, b) => Buffer.compare(a.data, b.data));
  return sorted.filter(({ data }, at) => !(sorted[at - 1]?.data.equals(data) ?? false)).map(({ whole }) => whole);
}
