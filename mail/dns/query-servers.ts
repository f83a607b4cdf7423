import type { Answer, DecodedPacket, RecordType } from 'dns-packet';
import { queryServer, type NameServer } from './exchange.ts';
import type { Lookup, MxRecord } from './lookup.ts';

const SECOND = 1000;
const NOERROR = 0;
const NXDOMAIN = 3;
/** Aliases followed within one answer. */
const MAX_ALIASES = 10;
/** Cache times in ms, and records per answer. */
export const CACHE_LIMITS = {
  maxTtl: 3600 * SECOND,
  /** For MX, TXT and PTR: Node does not return their time to live. */
  unknownTtl: 300 * SECOND,
  negative: 60 * SECOND,
  /** Long enough to share one query in a burst of mail, short enough to notice a recovery of the DNS. */
  trouble: 5 * SECOND,
  /** Records used of one answer. */
  records: 100,
};

export interface TimedLookup<T> {
  lookup: Lookup<T>;
  /** Cache time, ms. */
  ttlMs: number;
}

export interface RecordQuestion<T> {
  type: RecordType;
  /** In lower case, without a trailing dot. */
  name: string;
  /** Returns the value of a record; undefined for other types. */
  read: (answer: Answer) => T | undefined;
}

/** Queries the servers in order until one responds. `waitMs`: timeout of one attempt. */
export async function queryServers<T>(
  servers: readonly NameServer[],
  { type, name, read }: RecordQuestion<T>,
  waitMs: number,
): Promise<TimedLookup<T>> {
  for (const server of servers) {
    const response = await queryServer(server, { name, type, recurse: true }, waitMs);
    const code = response === undefined ? undefined : (response.flags ?? 0) & 15;
    if (response !== undefined && (code === NOERROR || code === NXDOMAIN)) return toLookup(response, type, name, read);
  }
  const why = `${type} of ${name}: no DNS response, or DNSSEC validation failed`;
  return { lookup: { kind: 'trouble', why }, ttlMs: CACHE_LIMITS.trouble };
}

/** Readers of the record types that all resolvers look up. */
export const RECORD_READERS = {
  MX: (answer: Answer): MxRecord | undefined =>
    answer.type === 'MX'
      ? { preference: answer.data.preference ?? 0, exchange: canonicalHostName(answer.data.exchange) }
      : undefined,
  A: (answer: Answer) => (answer.type === 'A' ? answer.data : undefined),
  AAAA: (answer: Answer) => (answer.type === 'AAAA' ? answer.data : undefined),
  TXT: (answer: Answer) => (answer.type === 'TXT' ? joinStrings([answer.data].flat()) : undefined),
  NS: (answer: Answer) => (answer.type === 'NS' ? canonicalHostName(answer.data) : undefined),
  CNAME: (answer: Answer) => (answer.type === 'CNAME' ? canonicalHostName(answer.data) : undefined),
};

function joinStrings(strings: readonly (string | Buffer)[]): string {
  return Buffer.concat(strings.map((one) => Buffer.from(one))).toString('latin1');
}

/** The form in which names are compared: lower case, no trailing dot. */
export function canonicalHostName(text: string): string {
  const lower = text.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

function toLookup<T>(
  response: DecodedPacket,
  type: RecordType,
  name: string,
  read: (answer: Answer) => T | undefined,
): TimedLookup<T> {
  const secure = response.flag_ad;
  const answers = response.answers ?? [];
  const alias = type === 'CNAME' ? undefined : aliasOf(answers, name);
  const matching = answers.filter((one) => one.name.toLowerCase() === (alias ?? name) && one.type === type);
  const records = matching.flatMap((one) => read(one) ?? []).slice(0, CACHE_LIMITS.records);
  const validated = { secure, ...(alias !== undefined && { alias }) };
  if (records.length === 0) {
    const nx = ((response.flags ?? 0) & 15) === NXDOMAIN;
    return { lookup: { kind: 'none', nx, ...validated }, ttlMs: CACHE_LIMITS.negative };
  }
  const ttl = answers.reduce((least, one) => Math.min(least, 'ttl' in one ? (one.ttl ?? 0) : Infinity), Infinity);
  return { lookup: { kind: 'found', records, ...validated }, ttlMs: Math.min(ttl * SECOND, CACHE_LIMITS.maxTtl) };
}

/** The final name of the CNAME chain from a name; undefined without a CNAME. */
function aliasOf(answers: readonly Answer[], name: string): string | undefined {
  let at = name;
  for (let steps = 0; steps < MAX_ALIASES; steps += 1) {
    const next = answers.find((one) => one.type === 'CNAME' && one.name.toLowerCase() === at);
    if (next?.type !== 'CNAME') break;
    at = canonicalHostName(next.data);
  }
  return at === name ? undefined : at;
}
