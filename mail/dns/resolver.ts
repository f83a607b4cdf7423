import dns from 'node:dns';
import type { Lookup, Resolver } from './lookup.ts';
import { LookupCache } from './lookup-cache.ts';

export interface ResolverOptions {
  /** `address` or `address:port`; the system's when empty. */
  servers?: readonly string[];
  /** Of one try, ms. */
  timeoutMs?: number;
  tries?: number;
  /** Answer "no such name" for `.test`, `.example`, `.invalid` and `.localhost` without asking. RFC 6761. */
  refuseSpecialUse?: boolean;
  /** False asks anew each time, for people who have just changed their records. */
  remember?: boolean;
  /** Milliseconds that never jump. */
  monotonic?: () => number;
}

const SECOND = 1000;
/** How long answers are believed, ms, and how many records are taken of one. */
export const LIMITS = {
  longest: 3600 * SECOND,
  /** Node tells no time to live for MX, TXT and PTR. */
  unknownTtl: 300 * SECOND,
  negative: 60 * SECOND,
  /** Long enough that a burst of mail to one domain asks once, short enough to notice that the DNS has healed. */
  trouble: 5 * SECOND,
  /** Records taken of one answer. */
  records: 100,
};

const SPECIAL_USE = /(?:^|\.)(?:test|example|invalid|localhost)$/;

/** RFC 1035 4.1.1 by the names that c-ares gives them: only these say that there is nothing; everything else is trouble. */
const NOTHING: Record<string, { kind: 'none'; nx: boolean }> = {
  ENOTFOUND: { kind: 'none', nx: true },
  ENODATA: { kind: 'none', nx: false },
  // A name that cannot be written in a question, such as one with an empty label.
  EBADNAME: { kind: 'none', nx: true },
};

interface Answer<T> {
  records: T[];
  ttlMs: number;
}

/** Makes the resolver of the process. It holds no timer and no socket while nobody asks. */
export function createResolver(options: ResolverOptions = {}): Resolver {
  const resolver = new dns.promises.Resolver({ timeout: options.timeoutMs ?? 5 * SECOND, tries: options.tries ?? 2 });
  if (options.servers !== undefined && options.servers.length > 0) resolver.setServers([...options.servers]);
  const cache = new LookupCache(options.monotonic ?? (() => performance.now()));

  const ask = <T>(type: string, name: string, query: () => Promise<Answer<T>>): Promise<Lookup<T>> => {
    if (options.refuseSpecialUse === true && SPECIAL_USE.test(name)) return Promise.resolve({ kind: 'none', nx: true });
    if (options.remember === false) return answer(type, name, query).then(({ lookup }) => lookup);
    return cache.get(`${type} ${name.toLowerCase()}`, () => answer(type, name, query));
  };

  return {
    mx: (name) =>
      ask('MX', name, async () => {
        const records = await resolver.resolveMx(name);
        return lasting(
          records.map(({ priority, exchange }) => ({ preference: priority, exchange: hostName(exchange) })),
        );
      }),
    a: (name) => ask('A', name, async () => timed(await resolver.resolve4(name, { ttl: true }))),
    aaaa: (name) => ask('AAAA', name, async () => timed(await resolver.resolve6(name, { ttl: true }))),
    txt: (name) =>
      ask('TXT', name, async () => lasting((await resolver.resolveTxt(name)).map((strings) => strings.join('')))),
    ns: (name) => ask('NS', name, async () => lasting((await resolver.resolveNs(name)).map(hostName))),
    cname: (name) => ask('CNAME', name, async () => lasting((await resolver.resolveCname(name)).map(hostName))),
    ptr: (ip) => ask('PTR', ip, async () => lasting((await resolver.reverse(ip)).map(hostName))),
  };
}

/** What one question came to and how long that may be believed, ms. */
async function answer<T>(
  type: string,
  name: string,
  query: () => Promise<Answer<T>>,
): Promise<{ lookup: Lookup<T>; ttlMs: number }> {
  try {
    const { records, ttlMs } = await query();
    if (records.length === 0) return { lookup: { kind: 'none', nx: false }, ttlMs: LIMITS.negative };
    const lookup: Lookup<T> = { kind: 'found', records: records.slice(0, LIMITS.records) };
    return { lookup, ttlMs: Math.min(ttlMs, LIMITS.longest) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const none = Object.hasOwn(NOTHING, code) ? NOTHING[code] : undefined;
    if (none !== undefined) return { lookup: none, ttlMs: LIMITS.negative };
    return { lookup: { kind: 'trouble', why: `${type} of ${name}: ${troubleText(code)}` }, ttlMs: LIMITS.trouble };
  }
}

function troubleText(code: string): string {
  switch (code) {
    case 'ETIMEOUT':
      return 'the DNS did not answer in time';
    case 'ESERVFAIL':
      return 'the DNS answered with a server failure';
    case 'EREFUSED':
      return 'the DNS refused to answer';
    case 'ECONNREFUSED':
      return 'no DNS server could be reached';
    default:
      return `the DNS could not answer (${code.replace(/[^A-Za-z0-9_]/g, '')})`;
  }
}

function timed(records: { address: string; ttl: number }[]): Answer<string> {
  const ttl = records.reduce((least, record) => Math.min(least, record.ttl), Infinity);
  return { records: records.map((record) => record.address), ttlMs: Math.max(0, ttl) * SECOND };
}

function lasting<T>(records: T[]): Answer<T> {
  return { records, ttlMs: LIMITS.unknownTtl };
}

/** As names are compared here. */
export function hostName(text: string): string {
  const lower = text.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}
