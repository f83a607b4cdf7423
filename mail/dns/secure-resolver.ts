import type { Answer, DecodedPacket, RecordType } from 'dns-packet';
import { exchange, type Place } from './exchange.ts';
import type { Lookup, MxRecord, SecureResolver, TlsaRecord } from './lookup.ts';
import { LookupCache } from './lookup-cache.ts';
import { hostName, LIMITS } from './resolver.ts';

export interface SecureResolverOptions {
  /** Asked in this order until one answers. Their AD bit is believed, so the way to them must be safe. */
  servers: readonly Place[];
  /** Of one try, ms. */
  timeoutMs?: number;
  /** Milliseconds that never jump. */
  monotonic?: () => number;
}

const SECOND = 1000;
const NOERROR = 0;
const NXDOMAIN = 3;
/** Aliases followed within one answer. */
const MOST_ALIASES = 10;

/**
 * Asks validating resolvers, and says of each answer whether it is proved. What fails validation comes back as a server
 * failure, which is trouble here like every other failure: nothing may be weaker because of it. RFC 4035 3.2.3.
 */
export function createSecureResolver(options: SecureResolverOptions): SecureResolver {
  const cache = new LookupCache(options.monotonic ?? (() => performance.now()));
  const ask = <T>(type: RecordType, name: string, read: (answer: Answer) => T | undefined): Promise<Lookup<T>> => {
    const lower = hostName(name);
    return cache.get(`${type} ${lower}`, () => look(options, type, lower, read));
  };
  return {
    mx: (name) => ask('MX', name, mxRecord),
    a: (name) => ask('A', name, (answer) => (answer.type === 'A' ? answer.data : undefined)),
    aaaa: (name) => ask('AAAA', name, (answer) => (answer.type === 'AAAA' ? answer.data : undefined)),
    cname: (name) => ask('CNAME', name, (answer) => (answer.type === 'CNAME' ? hostName(answer.data) : undefined)),
    tlsa: (name) => ask('TLSA', name, tlsaRecord),
  };
}

async function look<T>(
  { servers, timeoutMs = 3 * SECOND }: SecureResolverOptions,
  type: RecordType,
  name: string,
  read: (answer: Answer) => T | undefined,
): Promise<{ lookup: Lookup<T>; ttlMs: number }> {
  for (const server of servers) {
    const said = await exchange(server, { name, type, recurse: true }, timeoutMs);
    const code = said === undefined ? undefined : (said.flags ?? 0) & 15;
    if (said !== undefined && (code === NOERROR || code === NXDOMAIN)) return understood(said, type, name, read);
  }
  const why = `${type} of ${name}: the DNS did not answer, or its answer failed validation (DNSSEC)`;
  return { lookup: { kind: 'trouble', why }, ttlMs: LIMITS.trouble };
}

function understood<T>(
  said: DecodedPacket,
  type: RecordType,
  name: string,
  read: (answer: Answer) => T | undefined,
): { lookup: Lookup<T>; ttlMs: number } {
  const secure = said.flag_ad;
  const answers = said.answers ?? [];
  const alias = type === 'CNAME' ? undefined : aliasOf(answers, name);
  const mine = answers.filter((one) => one.name.toLowerCase() === (alias ?? name) && one.type === type);
  const records = mine.flatMap((one) => read(one) ?? []).slice(0, LIMITS.records);
  const told = { secure, ...(alias !== undefined && { alias }) };
  if (records.length === 0) {
    const nx = ((said.flags ?? 0) & 15) === NXDOMAIN;
    return { lookup: { kind: 'none', nx, ...told }, ttlMs: LIMITS.negative };
  }
  const ttl = answers.reduce((least, one) => Math.min(least, 'ttl' in one ? (one.ttl ?? 0) : Infinity), Infinity);
  return { lookup: { kind: 'found', records, ...told }, ttlMs: Math.min(ttl * SECOND, LIMITS.longest) };
}

/** Where the aliases of an answer lead from a name; undefined when it is none. */
function aliasOf(answers: readonly Answer[], name: string): string | undefined {
  let at = name;
  for (let steps = 0; steps < MOST_ALIASES; steps += 1) {
    const next = answers.find((one) => one.type === 'CNAME' && one.name.toLowerCase() === at);
    if (next?.type !== 'CNAME') break;
    at = hostName(next.data);
  }
  return at === name ? undefined : at;
}

function mxRecord(answer: Answer): MxRecord | undefined {
  if (answer.type !== 'MX') return undefined;
  return { preference: answer.data.preference ?? 0, exchange: hostName(answer.data.exchange) };
}

function tlsaRecord(answer: Answer): TlsaRecord | undefined {
  if (answer.type !== 'TLSA') return undefined;
  const { usage, selector, matchingType, certificate } = answer.data;
  return { usage, selector, matchingType, data: Buffer.from(certificate) };
}
