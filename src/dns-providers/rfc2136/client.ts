import { randomInt } from 'node:crypto';
import { type Answer, type DecodedPacket } from 'dns-packet';
import { decodePacket } from '../../../mail/dns/packet.ts';
import { type ClientTools, type Credentials, type DnsProviderKind } from '../zone-client.ts';
import { DnsProviderError } from '../provider-error.ts';
import {
  type NewEntry,
  type OwnedType,
  normalizeZoneName,
  type RecordSetChange,
  ttlOf,
  type ZoneEntry,
} from '../zone-entry.ts';
import { exchangeAll } from './tcp.ts';
import { signMessage, type TsigKey, verifyResponse } from './tsig.ts';
import { CLASSES, encodeData, encodeQuery, encodeUpdate, TYPE_NUMBERS } from './wire.ts';

const ALGORITHMS = ['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const;
/** Types that are asked for at each name: those that are written, and those that forbid a CNAME. */
const QUERIED = { A: 1, CNAME: 5, MX: 15, TXT: 16, AAAA: 28, SRV: 33, CAA: 257 } as const;
/** TLSA records are only at names such as _25._tcp. RFC 6698 3. */
const TLSA_NAME = /^_\d{1,5}\._/;
const MAX_NAMES = 100;
/** Records of one answer, all sections: reading more would hold up the server. */
const MAX_RECORDS = 200;

/** Dynamic updates of a primary name server: BIND, Knot, PowerDNS. RFC 2136, RFC 8945. */
export const RFC2136: DnsProviderKind = {
  id: 'rfc2136',
  title: 'Own name server (RFC 2136)',
  scope: 'a TSIG key that may update the zone (BIND: update-policy or allow-update, Knot: acl with action update)',
  fields: [
    { name: 'server', label: 'Primary name server', secret: false },
    { name: 'port', label: 'Port', secret: false, optional: true },
    { name: 'keyName', label: 'Name of the TSIG key', secret: false },
    { name: 'algorithm', label: 'Algorithm', secret: false, optional: true },
    { name: 'secret', label: 'Secret of the TSIG key (base64)', secret: true },
  ],
  async open(zone, credentials, tools) {
    const client = new UpdateClient(zone, await targetOf(credentials, tools), keyOf(credentials), tools);
    return (await client.isZone()) ? client : undefined;
  },
};

async function targetOf({ server = '', port = '' }: Credentials, tools: ClientTools) {
  const number = port === '' ? 53 : Number(port);
  if (!Number.isInteger(number) || number < 1 || number > 65_535) {
    throw new DnsProviderError('rejected', 'The port must be a number from 1 to 65535.');
  }
  return { ip: await tools.addressOf(server, number), port: number };
}

function keyOf({ keyName = '', algorithm = '', secret = '' }: Credentials): TsigKey {
  const known = ALGORITHMS.find((one) => one === (algorithm === '' ? 'hmac-sha256' : normalizeZoneName(algorithm)));
  if (known === undefined) throw new DnsProviderError('rejected', `The algorithm must be ${ALGORITHMS.join(', ')}.`);
  const octets = Buffer.from(secret, 'base64');
  if (octets.length < 8) throw new DnsProviderError('rejected', 'The secret of the TSIG key must be base64.');
  return { name: normalizeZoneName(keyName), algorithm: known, secret: octets };
}

function typesAt(name: string): number[] {
  return [...Object.values(QUERIED), ...(TLSA_NAME.test(name) ? [TYPE_NUMBERS.TLSA] : [])];
}

class UpdateClient {
  readonly zone: string;
  readonly #target: { ip: string; port: number };
  readonly #key: TsigKey;
  readonly #tools: ClientTools;

  constructor(zone: string, target: { ip: string; port: number }, key: TsigKey, tools: ClientTools) {
    this.zone = zone;
    this.#target = target;
    this.#key = key;
    this.#tools = tools;
  }

  /** True if the server is authoritative for exactly this zone. */
  async isZone(): Promise<boolean> {
    const [response] = await this.#query([{ name: this.zone, type: TYPE_NUMBERS.SOA }]);
    const answers: readonly Answer[] = response?.answers ?? [];
    return answers.some(({ type, name }) => type === 'SOA' && normalizeZoneName(name) === this.zone);
  }

  async list(names: readonly string[]): Promise<ZoneEntry[]> {
    const unique = [...new Set(names)].slice(0, MAX_NAMES);
    const questions = unique.flatMap((name) => typesAt(name).map((type) => ({ name, type })));
    const entries = new Map<string, ZoneEntry>();
    for (const response of await this.#query(questions)) {
      const name = normalizeZoneName(response.questions?.[0]?.name ?? '');
      for (const answer of response.answers ?? []) {
        // A server follows a CNAME within the zone: those records are at another name.
        if (normalizeZoneName(answer.name) !== name) continue;
        const entry = entryOf(answer, name);
        if (entry !== undefined) entries.set(JSON.stringify([entry.type, name, entry.raw]), entry);
      }
    }
    return [...entries.values()];
  }

  /** Sends one update, which the server makes whole or not at all. Its prerequisite is that nobody changed the records. */
  async change(change: RecordSetChange): Promise<void> {
    const { type, name, remove, keep, add } = change;
    const number = TYPE_NUMBERS[type];
    const there = [...remove, ...keep];
    const head = { name, type: number };
    const prerequisites =
      there.length === 0
        ? [{ ...head, class: CLASSES.NONE, ttl: 0, data: Buffer.alloc(0) }]
        : there.map(({ raw }) => ({ ...head, class: CLASSES.IN, ttl: 0, data: Buffer.from(raw, 'hex') }));
    const updates = [
      ...remove.map(({ raw }) => ({ ...head, class: CLASSES.NONE, ttl: 0, data: Buffer.from(raw, 'hex') })),
      ...add.map((entry) => ({ ...head, class: CLASSES.IN, ttl: ttlOf(change), data: rdataOf(entry) })),
    ];
    const id = randomInt(65_536);
    await this.#update(encodeUpdate({ id, zone: this.zone, prerequisites, updates }));
  }

  async #update(message: Buffer): Promise<void> {
    const { clock, signal } = this.#tools;
    const { signed, mac } = signMessage(message, this.#key, clock());
    const [response] = await exchangeAll({ ...this.#target, signal }, [signed]);
    if (response === undefined || response.length < 12) throw this.#unusable();
    const verdict = verifyResponse(response, this.#key, mac, clock());
    const code = response.readUInt8(3) & 15;
    if (code !== 0) throw refusalOf(code);
    if (verdict !== 'valid') throw this.#unusable();
  }

  async #query(questions: readonly { name: string; type: number }[]): Promise<DecodedPacket[]> {
    const { clock, signal } = this.#tools;
    const packets = questions.map(({ name, type }) => {
      return signMessage(encodeQuery(randomInt(65_536), name, type), this.#key, clock());
    });
    const responses = await exchangeAll(
      { ...this.#target, signal },
      packets.map(({ signed }) => signed),
    );
    return responses.map((response, i) => {
      const { mac = Buffer.alloc(0), signed } = packets[i] ?? {};
      return this.#checked(response, signed, mac);
    });
  }

  #checked(response: Buffer, query: Buffer | undefined, mac: Buffer): DecodedPacket {
    const code = response.length < 12 ? 2 : response.readUInt8(3) & 15;
    const found = code === 0 || code === 3;
    if (!found) throw refusalOf(code);
    const valid = verifyResponse(response, this.#key, mac, this.#tools.clock()) === 'valid';
    if (!valid || response.readUInt16BE(0) !== query?.readUInt16BE(0)) throw this.#unusable();
    const count = response.readUInt16BE(6) + response.readUInt16BE(8) + response.readUInt16BE(10);
    if (count > MAX_RECORDS) {
      const message = `The name server has more than ${MAX_RECORDS} records at one name. Remove some.`;
      throw new DnsProviderError('rejected', message);
    }
    try {
      return decodePacket(response);
    } catch (cause) {
      throw new DnsProviderError('unavailable', 'The name server sent a damaged answer.', { cause });
    }
  }

  #unusable(): DnsProviderError {
    const why = 'its answer is not signed with the key, or the clocks differ by more than 5 minutes';
    return new DnsProviderError('unavailable', `The name server ${this.#target.ip} cannot be used: ${why}.`);
  }
}

/** RFC 1035 4.1.1, RFC 2136 2.2, RFC 8945 5.2. */
function refusalOf(code: number): DnsProviderError {
  switch (code) {
    case 5:
    case 9:
      return new DnsProviderError(
        'refused',
        'The name server refused the TSIG key. Check its name, algorithm, secret and rights, and the clocks.',
      );
    case 7:
    case 8:
      return new DnsProviderError('unavailable', 'The records were changed by somebody else meanwhile. Try again.');
    case 2:
      return new DnsProviderError('unavailable', 'The name server failed (SERVFAIL). Try again later.');
    default:
      return new DnsProviderError('rejected', `The name server rejected the request (code ${code}).`);
  }
}

function rdataOf(entry: NewEntry): Buffer {
  return entry.raw === undefined ? encodeData(entry.type, entry.value) : Buffer.from(entry.raw, 'hex');
}

/** Undefined for types that were not asked for. */
function entryOf(answer: Answer, name: string): ZoneEntry | undefined {
  const head = { name, ttl: 'ttl' in answer ? (answer.ttl ?? 0) : 0, id: '' };
  if (answer.type === 'A' || answer.type === 'AAAA') {
    return { ...head, type: answer.type, value: answer.data, raw: answer.data };
  }
  if (answer.type === 'CNAME') return written({ ...head, type: 'CNAME', value: normalizeZoneName(answer.data) });
  if (answer.type === 'MX') {
    const { preference = 0, exchange } = answer.data;
    return written({ ...head, type: 'MX', value: `${preference} ${normalizeZoneName(exchange)}` });
  }
  if (answer.type === 'SRV') {
    const { priority = 0, weight = 0, port, target } = answer.data;
    return written({ ...head, type: 'SRV', value: `${priority} ${weight} ${port} ${normalizeZoneName(target)}` });
  }
  if (answer.type === 'TLSA') {
    const { usage, selector, matchingType, certificate } = answer.data;
    const hash = Buffer.from(certificate).toString('hex');
    return written({ ...head, type: 'TLSA', value: `${usage} ${selector} ${matchingType} ${hash}` });
  }
  if (answer.type === 'CAA') {
    const { flags = 0, tag, value } = answer.data as { flags?: number; tag: string; value: string };
    return written({ ...head, type: 'CAA', value: `${flags} ${tag.toLowerCase()} "${value}"` });
  }
  return answer.type === 'TXT' ? { ...head, ...textData(answer.data) } : undefined;
}

/** Keeps the character-strings as they are split: a record is found by its octets. */
function textData(data: string | Buffer | (string | Buffer)[]): Pick<ZoneEntry, 'type' | 'value' | 'raw'> {
  const strings = (Array.isArray(data) ? data : [data]).map((one) => Buffer.from(one));
  const raw = Buffer.concat(strings.flatMap((one) => [Buffer.of(one.length), one])).toString('hex');
  return { type: 'TXT', value: Buffer.concat(strings).toString('utf8'), raw };
}

function written(entry: Omit<ZoneEntry, 'raw' | 'type'> & { type: Exclude<OwnedType, 'TXT'> }): ZoneEntry {
  return { ...entry, raw: encodeData(entry.type, entry.value).toString('hex') };
}
