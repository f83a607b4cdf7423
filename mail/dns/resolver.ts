import dns from 'node:dns';
import { isIP } from 'node:net';
import type { Answer, RecordType } from 'dns-packet';
import ipaddr from 'ipaddr.js';
import type { NameServer } from './exchange.ts';
import type { Lookup, MxRecord, Resolver, SrvRecord } from './lookup.ts';
import { LookupCache } from './lookup-cache.ts';
import { isDnsName } from './name.ts';
import {
  CACHE_LIMITS,
  canonicalHostName,
  queryServers,
  RECORD_READERS,
  type RecordQuestion,
  type TimedLookup,
} from './query-servers.ts';

export interface ResolverOptions {
  /** `address` or `address:port`; the system's when empty. */
  servers?: readonly string[];
  /** Timeout of one attempt, ms. */
  timeoutMs?: number;
  tries?: number;
  /** Answers NXDOMAIN for `.test`, `.example`, `.invalid` and `.localhost` without a query. RFC 6761. */
  refuseSpecialUse?: boolean;
  /** False disables the cache, to check records that were just changed. */
  cache?: boolean;
  /** Monotonic clock, ms. */
  monotonic?: () => number;
}

const SECOND = 1000;

/** Names that Node's resolver queries as they are. RFC 7208 macros make others. */
const HOST_NAME = /^[A-Za-z0-9._-]*$/;
const SPECIAL_USE = /(?:^|\.)(?:test|example|invalid|localhost)$/;

/** c-ares codes of negative answers (RFC 1035 4.1.1); every other error is a temporary failure. */
const NEGATIVE_CODES: Record<string, { kind: 'none'; nx: boolean }> = {
  ENOTFOUND: { kind: 'none', nx: true },
  ENODATA: { kind: 'none', nx: false },
  // A name that cannot be encoded, such as one with an empty label.
  EBADNAME: { kind: 'none', nx: true },
};

interface TimedRecords<T> {
  records: T[];
  ttlMs: number;
}

/** Creates a resolver. It holds no timer and no socket while idle. */
export function createResolver(options: ResolverOptions = {}): Resolver {
  const resolver = new dns.promises.Resolver({ timeout: options.timeoutMs ?? 5 * SECOND, tries: options.tries ?? 2 });
  if (options.servers !== undefined && options.servers.length > 0) resolver.setServers([...options.servers]);
  const cache = new LookupCache(options.monotonic ?? (() => performance.now()));

  const waitMs = options.timeoutMs ?? 5 * SECOND;

  const lookUp: LookUp = async <T>(
    type: RecordType,
    name: string,
    query: () => Promise<TimedRecords<T>>,
    read?: (answer: Answer) => T | undefined,
  ): Promise<Lookup<T>> => {
    if (options.refuseSpecialUse === true && SPECIAL_USE.test(name)) return { kind: 'none', nx: true };
    const run = (): Promise<TimedLookup<T>> =>
      read === undefined || HOST_NAME.test(name)
        ? resolveLookup(type, name, query)
        : queryOtherName(resolver.getServers(), { type, name: canonicalHostName(name), read }, waitMs);
    return options.cache === false ? (await run()).lookup : cache.get(`${type} ${name.toLowerCase()}`, run);
  };
  return recordLookups(resolver, lookUp);
}

/** Runs one query through the cache; `read`: reads the answer where Node's resolver cannot ask for the name. */
type LookUp = <T>(
  type: RecordType,
  name: string,
  query: () => Promise<TimedRecords<T>>,
  read?: (answer: Answer) => T | undefined,
) => Promise<Lookup<T>>;

/** The look-ups by record type. */
function recordLookups(resolver: dns.promises.Resolver, lookUp: LookUp): Resolver {
  const { MX, A, AAAA, TXT, NS, CNAME } = RECORD_READERS;
  const hostNames = async (names: Promise<string[]>): Promise<TimedRecords<string>> =>
    withDefaultTtl((await names).map(canonicalHostName));
  const exchanges = async (name: string): Promise<TimedRecords<MxRecord>> => {
    const records = await resolver.resolveMx(name);
    return withDefaultTtl(
      records.map(({ priority, exchange }) => ({ preference: priority, exchange: canonicalHostName(exchange) })),
    );
  };
  const texts = async (name: string): Promise<TimedRecords<string>> =>
    withDefaultTtl((await resolver.resolveTxt(name)).map((strings) => strings.join('')));
  const services = async (name: string): Promise<TimedRecords<SrvRecord>> => {
    const records = await resolver.resolveSrv(name);
    return withDefaultTtl(records.map(({ name: target, ...one }) => ({ ...one, target: canonicalHostName(target) })));
  };
  return {
    mx: (name) => lookUp('MX', name, () => exchanges(name), MX),
    a: (name) => lookUp('A', name, async () => withRecordTtl(await resolver.resolve4(name, { ttl: true })), A),
    aaaa: (name) => lookUp('AAAA', name, async () => withRecordTtl(await resolver.resolve6(name, { ttl: true })), AAAA),
    txt: (name) => lookUp('TXT', name, () => texts(name), TXT),
    ns: (name) => lookUp('NS', name, () => hostNames(resolver.resolveNs(name)), NS),
    cname: (name) => lookUp('CNAME', name, () => hostNames(resolver.resolveCname(name)), CNAME),
    srv: (name) => lookUp('SRV', name, () => services(name)),
    // Not resolver.reverse(), which reads /etc/hosts and takes a failure for a missing name.
    ptr: (ip) => lookUp('PTR', ip, () => hostNames(resolver.resolvePtr(reverseNameOf(ip)))),
  };
}

/** Name of the PTR record of an address. RFC 1035 3.5. */
function reverseNameOf(ip: string): string {
  const address = ipaddr.process(ip);
  const octets = address.toByteArray();
  if (address.kind() === 'ipv4') return `${octets.toReversed().join('.')}.in-addr.arpa`;
  const nibbles = octets.flatMap((octet) => [octet >> 4, octet & 15]).toReversed();
  return `${nibbles.map((nibble) => nibble.toString(16)).join('.')}.ip6.arpa`;
}

/** Queries a name that Node's resolver refuses or reads with escapes, such as one with `+` or `=` from an SPF macro. */
async function queryOtherName<T>(
  servers: readonly string[],
  question: RecordQuestion<T>,
  waitMs: number,
): Promise<TimedLookup<T>> {
  // The limits of RFC 1035 count octets.
  if (!isDnsName(Buffer.from(question.name).toString('latin1'))) {
    return { lookup: { kind: 'none', nx: true }, ttlMs: CACHE_LIMITS.negative };
  }
  return queryServers(servers.map(parseServer), question, waitMs);
}

/** Parses a server as Node writes it: `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`. */
function parseServer(text: string): NameServer {
  if (isIP(text) !== 0) return { ip: text, port: 53 };
  const colon = text.lastIndexOf(':');
  return { ip: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}

/** Runs one query; returns the result and its cache time, ms. */
async function resolveLookup<T>(
  type: string,
  name: string,
  query: () => Promise<TimedRecords<T>>,
): Promise<TimedLookup<T>> {
  try {
    const { records, ttlMs } = await query();
    if (records.length === 0) return { lookup: { kind: 'none', nx: false }, ttlMs: CACHE_LIMITS.negative };
    const lookup: Lookup<T> = { kind: 'found', records: records.slice(0, CACHE_LIMITS.records) };
    return { lookup, ttlMs: Math.min(ttlMs, CACHE_LIMITS.maxTtl) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const none = Object.hasOwn(NEGATIVE_CODES, code) ? NEGATIVE_CODES[code] : undefined;
    if (none !== undefined) return { lookup: none, ttlMs: CACHE_LIMITS.negative };
    return {
      lookup: { kind: 'trouble', why: `${type} of ${name}: ${failureText(code)}` },
      ttlMs: CACHE_LIMITS.trouble,
    };
  }
}

function failureText(code: string): string {
  switch (code) {
    case 'ETIMEOUT':
      return 'DNS timeout';
    case 'ESERVFAIL':
      return 'DNS server failure (SERVFAIL)';
    case 'EREFUSED':
      return 'DNS server refused the query (REFUSED)';
    case 'ECONNREFUSED':
      return 'no DNS server reachable';
    default:
      return `DNS error (${code.replace(/[^A-Za-z0-9_]/g, '')})`;
  }
}

function withRecordTtl(records: { address: string; ttl: number }[]): TimedRecords<string> {
  const ttl = records.reduce((least, record) => Math.min(least, record.ttl), Infinity);
  return { records: records.map((record) => record.address), ttlMs: Math.max(0, ttl) * SECOND };
}

function withDefaultTtl<T>(records: T[]): TimedRecords<T> {
  return { records, ttlMs: CACHE_LIMITS.unknownTtl };
}
