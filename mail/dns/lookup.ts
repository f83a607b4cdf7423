/** What asking the DNS came to. `trouble` is never taken for an answer: who meets it tries again later. */
export type Lookup<T> =
  | ({ kind: 'found'; records: readonly T[] } & Validated)
  /** There is no such record; with `nx`, there is no such name at all. RFC 2308. */
  | ({ kind: 'none'; nx: boolean } & Validated)
  | { kind: 'trouble'; why: string };

/** What only a validating resolver tells of its answers. */
interface Validated {
  /** The answer, all of it, is proved by DNSSEC (the AD bit of RFC 4035). */
  secure?: boolean;
  /** The name that an alias led to in the end, when there was one. */
  alias?: string;
}

export interface MxRecord {
  preference: number;
  /** Host name in lower case without a trailing dot; '' is the root, as in the null MX of RFC 7505. */
  exchange: string;
}

/** The one way to ask the DNS. Names are A-labels. Nothing here rejects. */
export interface Resolver {
  mx(name: string): Promise<Lookup<MxRecord>>;
  a(name: string): Promise<Lookup<string>>;
  aaaa(name: string): Promise<Lookup<string>>;
  /** One string a record, its character-strings joined. RFC 7208 3.3. */
  txt(name: string): Promise<Lookup<string>>;
  /** The name servers of a zone, in lower case without a trailing dot. */
  ns(name: string): Promise<Lookup<string>>;
  /** Where a name leads, in lower case without a trailing dot; only the first step. */
  cname(name: string): Promise<Lookup<string>>;
  /** The names of an address. */
  ptr(ip: string): Promise<Lookup<string>>;
}

/** RFC 6698 2.1. */
export interface TlsaRecord {
  usage: number;
  selector: number;
  matchingType: number;
  data: Buffer;
}

/** A resolver that validates, and whose word for it can be trusted. Names are A-labels. Nothing here rejects. */
export interface SecureResolver {
  mx(name: string): Promise<Lookup<MxRecord>>;
  a(name: string): Promise<Lookup<string>>;
  aaaa(name: string): Promise<Lookup<string>>;
  cname(name: string): Promise<Lookup<string>>;
  tlsa(name: string): Promise<Lookup<TlsaRecord>>;
}
