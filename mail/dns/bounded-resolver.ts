import type { Lookup, Resolver } from './lookup.ts';

/** A resolver for one message, which ends. */
export interface BoundedResolver extends Resolver {
  /** Questions that were asked so far. */
  readonly asked: number;
  /** From now on everything is `trouble`; what still waits is so too. */
  close(): void;
}

interface Bounds {
  /** Different questions. */
  questions: number;
  /** For all of them together, ms. */
  timeoutMs: number;
}

/**
 * Puts an end to how much one message may ask: so many questions, and so long for all of them from now on. What is over
 * is `trouble`, never an answer. The same question is asked once. Holds a timer until it is closed.
 */
export function boundedResolver(resolver: Resolver, bounds: Bounds): BoundedResolver {
  const known = new Map<string, Promise<Lookup<unknown>>>();
  const late: Lookup<never> = { kind: 'trouble', why: 'the time for questions to the DNS was over' };
  const many: Lookup<never> = { kind: 'trouble', why: 'too many questions to the DNS' };
  const { promise: over, resolve: end } = Promise.withResolvers<Lookup<never>>();
  let closed = false;
  const close = (): void => {
    closed = true;
    clearTimeout(timer);
    end(late);
  };
  const timer = setTimeout(close, bounds.timeoutMs);

  const ask = <T>(type: string, name: string, question: () => Promise<Lookup<T>>): Promise<Lookup<T>> => {
    const key = `${type} ${name.toLowerCase()}`;
    const before = known.get(key);
    if (before !== undefined) return before as Promise<Lookup<T>>;
    if (closed) return Promise.resolve(late);
    if (known.size >= bounds.questions) return Promise.resolve(many);
    const answer = Promise.race([question(), over]);
    known.set(key, answer);
    return answer;
  };
  return {
    get asked() {
      return known.size;
    },
    close,
    mx: (name) => ask('MX', name, () => resolver.mx(name)),
    a: (name) => ask('A', name, () => resolver.a(name)),
    aaaa: (name) => ask('AAAA', name, () => resolver.aaaa(name)),
    txt: (name) => ask('TXT', name, () => resolver.txt(name)),
    ns: (name) => ask('NS', name, () => resolver.ns(name)),
    cname: (name) => ask('CNAME', name, () => resolver.cname(name)),
    ptr: (ip) => ask('PTR', ip, () => resolver.ptr(ip)),
  };
}
