import { isIPv4 } from 'node:net';

/** Questions a second that one network may ask in the long run, and at once. A resolver of a large provider asks less. */
const PER_SECOND = 100;
const BURST = 200;
const MOST_NETWORKS = 10_000;

/** How often a network may ask, so that this server is of no use for flooding somebody whose address was forged. */
export class Pace {
  readonly #buckets = new Map<string, { left: number; at: number }>();
  readonly #now: () => number;
  #over = 0;

  /** `now` gives milliseconds that never jump. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** What a question deserves; above the limit every fourth is told to come over TCP, which forged addresses cannot. */
  take(ip: string): 'answer' | 'tcp' | 'silence' {
    const now = this.#now();
    const key = networkOf(ip);
    const bucket = this.#buckets.get(key) ?? { left: BURST, at: now };
    const left = Math.min(BURST, bucket.left + ((now - bucket.at) / 1000) * PER_SECOND);
    // The oldest go first: a flood from forged addresses must not fill the memory.
    this.#buckets.delete(key);
    if (this.#buckets.size >= MOST_NETWORKS) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
    this.#buckets.set(key, { left: left >= 1 ? left - 1 : left, at: now });
    if (left >= 1) return 'answer';
    this.#over += 1;
    return this.#over % 4 === 0 ? 'tcp' : 'silence';
  }
}

/** One IPv4 /24 or IPv6 /56, written the same way each time for one network. */
function networkOf(ip: string): string {
  const plain = ip.startsWith('::ffff:') ? ip.slice(7) : ip;
  if (isIPv4(plain)) return plain.slice(0, plain.lastIndexOf('.'));
  const groups = plain.split('%')[0]?.split(':') ?? [];
  const gap = groups.indexOf('');
  const whole = gap === -1 ? groups : [...groups.slice(0, gap), ...Array<string>(9 - groups.length).fill('0')];
  return whole
    .slice(0, 4)
    .map((group, i) => Number.parseInt(group === '' ? '0' : group, 16) & (i === 3 ? 0xff00 : 0xffff))
    .join(':');
}
