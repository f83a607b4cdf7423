import type { Answer, RecordType } from 'dns-packet';
import type { NameServer } from './exchange.ts';
import type { Lookup, SecureResolver, TlsaRecord } from './lookup.ts';
import { LookupCache } from './lookup-cache.ts';
import { canonicalHostName, queryServers, RECORD_READERS, type TimedLookup } from './query-servers.ts';

export interface SecureResolverOptions {
  /** Queried in this order until one responds. Their AD bit is trusted, so the path to them must be secure. */
  servers: readonly NameServer[];
  /** Timeout of one attempt, ms. */
  timeoutMs?: number;
  /** Monotonic clock, ms. */
  monotonic?: () => number;
}

const SECOND = 1000;

/**
 * Creates a resolver that queries validating name servers and reports whether each answer was validated. A failed
 * validation is a SERVFAIL, treated as a temporary failure: it must not weaken security. RFC 4035 3.2.3.
 */
export function createSecureResolver(options: SecureResolverOptions): SecureResolver {
  const cache = new LookupCache(options.monotonic ?? (() => performance.now()));
  const timeoutMs = options.timeoutMs ?? 3 * SECOND;
  const lookUp = <T>(type: RecordType, name: string, read: (answer: Answer) => T | undefined): Promise<Lookup<T>> => {
    const lower = canonicalHostName(name);
    const query = (): Promise<TimedLookup<T>> => queryServers(options.servers, { type, name: lower, read }, timeoutMs);
    return cache.get(`${type} ${lower}`, query);
  };
  return {
    mx: (name) => lookUp('MX', name, RECORD_READERS.MX),
    a: (name) => lookUp('A', name, RECORD_READERS.A),
    aaaa: (name) => lookUp('AAAA', name, RECORD_READERS.AAAA),
    cname: (name) => lookUp('CNAME', name, RECORD_READERS.CNAME),
    tlsa: (name) => lookUp('TLSA', name, tlsaRecord),
  };
}

function tlsaRecord(answer: Answer): TlsaRecord | undefined {
  if (answer.type !== 'TLSA') return undefined;
  const { usage, selector, matchingType, certificate } = answer.data;
  return { usage, selector, matchingType, data: Buffer.from(certificate), ttl: answer.ttl ?? 0 };
}
