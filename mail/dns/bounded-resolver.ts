import type { Lookup, Resolver } from './lookup.ts';

/** A resolver with limits for one message. */
export interface BoundedResolver extends Resolver {
  /** Queries so far. */
  readonly questionCount: number;
  /** Ends pending and later lookups with `trouble`. */
  close(): void;
}

interface LookupBounds {
  /** Distinct queries. */
  maxQuestions: number;
  /** Time for all queries, ms. */
  timeoutMs: number;
}

/**
 * Limits the DNS queries of one message in number and total time. Beyond a limit a lookup is `trouble`, never a negative
 * answer. Repeated queries are answered from memory. Holds a timer until closed.
 */
export function boundedResolver(resolver: Resolver, bounds: LookupBounds): BoundedResolver {
  const lookups = new Map<string, Promise<Lookup<unknown>>>();
  const timedOut: Lookup<never> = { kind: 'trouble', why: 'time limit for DNS lookups reached' };
  const tooMany: Lookup<never> = { kind: 'trouble', why: 'too many DNS lookups' };
  const { promise: over, resolve: end } = Promise.withResolvers<Lookup<never>>();
  let closed = false;
  const close = (): void => {
    closed = true;
    clearTimeout(timer);
    end(timedOut);
  };
  const timer = setTimeout(close, bounds.timeoutMs);

  const lookUp = <T>(type: string, name: string, query: () => Promise<Lookup<T>>): Promise<Lookup<T>> => {
    const key = `${type} ${name.toLowerCase()}`;
    const previous = lookups.get(key);
    if (previous !== undefined) return previous as Promise<Lookup<T>>;
    if (closed) return Promise.resolve(timedOut);
    if (lookups.size >= bounds.maxQuestions) return Promise.resolve(tooMany);
    const answer = Promise.race([query(), over]);
    lookups.set(key, answer);
    return answer;
  };
  return {
    get questionCount() {
      return lookups.size;
    },
    close,
    mx: (name) => lookUp('MX', name, () => resolver.mx(name)),
    a: (name) => lookUp('A', name, () => resolver.a(name)),
    aaaa: (name) => lookUp('AAAA', name, () => resolver.aaaa(name)),
    txt: (name) => lookUp('TXT', name, () => resolver.txt(name)),
    ns: (name) => lookUp('NS', name, () => resolver.ns(name)),
    cname: (name) => lookUp('CNAME', name, () => resolver.cname(name)),
    srv: (name) => lookUp('SRV', name, () => resolver.srv(name)),
    ptr: (ip) => lookUp('PTR', ip, () => resolver.ptr(ip)),
  };
}
