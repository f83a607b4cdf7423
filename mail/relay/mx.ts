import type { MxRecord } from '../dns/lookup.ts';

/** Mail exchangers of one domain that are looked up. */
const MAX_EXCHANGES = 20;

/** Mail exchangers of a domain in the order of attempts, or the reason for none. */
export type MxChoice =
  | { kind: 'exchanges'; exchanges: MxRecord[] }
  /** Null MX: the domain accepts no mail. RFC 7505. */
  | { kind: 'null' }
  /** This box has the best preference. */
  | { kind: 'ourselves' };

/**
 * Orders MX records by preference, equal ones shuffled. Records from our own preference on are removed: otherwise two
 * servers would send a message to each other forever. RFC 5321 5.1.
 */
export function chooseMx(
  records: readonly MxRecord[],
  isOurName: (host: string) => boolean,
  random: () => number,
): MxChoice {
  const named = records.filter((record) => record.exchange !== '');
  if (named.length === 0) return { kind: 'null' };
  const ours = named.filter((record) => isOurName(record.exchange)).map((record) => record.preference);
  const limit = ours.length === 0 ? Infinity : Math.min(...ours);
  const usable = named.filter((record) => record.preference < limit);
  if (usable.length === 0) return { kind: 'ourselves' };
  const ordered = shuffle(usable, random).sort((a, b) => a.preference - b.preference);
  const once = ordered.filter((record, at) => ordered.findIndex((r) => r.exchange === record.exchange) === at);
  return { kind: 'exchanges', exchanges: once.slice(0, MAX_EXCHANGES) };
}

/** Returns a shuffled copy. `random` is in [0, 1). */
export function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const out = [...items];
  for (let last = out.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [out[last], out[other]] = [out[other] as T, out[last] as T];
  }
  return out;
}

/** Interleaves IPv6 and IPv4 addresses of a host, IPv6 first, so that a broken family costs one attempt. */
export function interleave(ipv6: readonly string[], ipv4: readonly string[]): string[] {
  const out: string[] = [];
  for (let at = 0; at < Math.max(ipv6.length, ipv4.length); at += 1) {
    const [six, four] = [ipv6[at], ipv4[at]];
    if (six !== undefined) out.push(six);
    if (four !== undefined) out.push(four);
  }
  return out;
}
