/** The result of a DNS lookup. `trouble` is a temporary failure, never a negative answer: retry later. */
export type Lookup<T> =
  | ({ kind: 'found'; records: readonly T[] } & Validated)
  /** No such record (NODATA); with `nx`, no such name (NXDOMAIN). RFC 2308. */
  | ({ kind: 'none'; nx: boolean } & Validated)
  | { kind: 'trouble'; why: string };

/** Facts that only a validating resolver returns. */
interface Validated {
  /** The whole answer was validated by DNSSEC (the AD bit of RFC 4035). */
  secure?: boolean;
  /** The final name of a CNAME chain, if there was one. */
  alias?: string;
}

export interface MxRecord {
  preference: number;
  /** Host name in lower case without a trailing dot; '' is the root, as in the null MX of RFC 7505. */
  exchange: string;
}

export interface SrvRecord {
  priority: number;
  weight: number;
  port: number;
  /** Host name in lower case without a trailing dot; '' means that the service is not offered. */
  target: string;
}

/** DNS lookups. Names are A-labels. Never rejects. */
export interface Resolver {
  mx(name: string): Promise<Lookup<MxRecord>>;
  a(name: string): Promise<Lookup<string>>;
  aaaa(name: string): Promise<Lookup<string>>;
  /** One string a record, its character-strings joined. RFC 7208 3.3. */
  txt(name: string): Promise<Lookup<string>>;
  /** The name servers of a zone, in lower case without a trailing dot. */
  ns(name: string): Promise<Lookup<string>>;
  /** The target of a CNAME record, in lower case without a trailing dot; not followed. */
  cname(name: string): Promise<Lookup<string>>;
  /** Hosts of a service. RFC 2782. */
  srv(name: string): Promise<Lookup<SrvRecord>>;
  /** The names of an address. */
  ptr(ip: string): Promise<Lookup<string>>;
}

/** RFC 6698 2.1. */
export interface TlsaRecord {
  usage: number;
  selector: number;
  matchingType: number;
  data: Buffer;
  /** Time for which caches keep it, s. */
  ttl?: number;
}

/** DNS lookups through trusted validating resolvers. Names are A-labels. Never rejects. */
export interface SecureResolver {
  mx(name: string): Promise<Lookup<MxRecord>>;
  a(name: string): Promise<Lookup<string>>;
  aaaa(name: string): Promise<Lookup<string>>;
  cname(name: string): Promise<Lookup<string>>;
  tlsa(name: string): Promise<Lookup<TlsaRecord>>;
}
