import { isMailboxLevel } from '../../message/mailbox-level.ts';

/** Octets of UTF-8 in a whole name. */
const MAX_NAME_OCTETS = 1000;
const MAX_LEVELS = 50;

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,';

/**
 * The canonical form of a name in UTF-8: NFC, `INBOX` in upper case also as a parent, without a trailing `/` (CREATE may
 * have one, RFC 9051 6.3.4). Undefined when invalid: a level is empty, it is too long, or it has control characters.
 */
export function canonicalName(name: string): string | undefined {
  const trimmed = name.endsWith('/') ? name.slice(0, -1) : name;
  if (trimmed.length > MAX_NAME_OCTETS) return undefined;
  const levels = trimmed.normalize('NFC').split('/');
  if (levels.length > MAX_LEVELS || !levels.every(isMailboxLevel)) return undefined;
  // RFC 9051 5.1: INBOX is case-insensitive, also as a parent.
  if (/^inbox$/i.test(levels[0] ?? '')) levels[0] = 'INBOX';
  const canonical = levels.join('/');
  return Buffer.byteLength(canonical) > MAX_NAME_OCTETS ? undefined : canonical;
}

/**
 * Decodes modified UTF-7 (RFC 3501 5.1.3). Returns malformed input, and names with non-ASCII characters (clients send
 * UTF-8 without negotiation), unchanged.
 */
export function fromUtf7(name: string): string {
  if (!name.includes('&') || /[^\x20-\x7e]/.test(name)) return name;
  let text = '';
  let at = 0;
  for (let shift = name.indexOf('&'); shift !== -1; shift = name.indexOf('&', at)) {
    const end = name.indexOf('-', shift);
    const run = end === -1 ? undefined : decodeRun(name.slice(shift + 1, end));
    if (run === undefined) return name;
    text += name.slice(at, shift) + run;
    at = end + 1;
  }
  return text + name.slice(at);
}

/** Encodes text as modified UTF-7. */
export function toUtf7(name: string): string {
  return name.replace(/&|[^\x20-\x7e]+/g, (run) => (run === '&' ? '&-' : `&${encodeRun(run)}-`));
}

function decodeRun(base64: string): string | undefined {
  if (base64 === '') return '&';
  let text = '';
  let bits = 0;
  let held = 0;
  for (const digit of base64) {
    const value = BASE64.indexOf(digit);
    if (value === -1) return undefined;
    held = ((held << 6) | value) & 0x3fffff;
    bits += 6;
    if (bits < 16) continue;
    bits -= 16;
    text += String.fromCharCode((held >>> bits) & 0xffff);
  }
  // Rejects non-zero padding and encoded printable ASCII: `&AC8-` would smuggle a `/`.
  const padded = bits < 6 && (held & ((1 << bits) - 1)) === 0;
  return padded && text !== '' && text.isWellFormed() && !/[\x20-\x7e]/.test(text) ? text : undefined;
}

function encodeRun(text: string): string {
  const utf16 = Buffer.from(text, 'utf16le').swap16();
  return utf16.toString('base64').replaceAll('/', ',').replace(/=+$/, '');
}

/**
 * Compiles a LIST pattern to a test of canonical names: `*` matches anything, `%` anything but `/`; a first level INBOX is
 * case-insensitive. Simulates an automaton on 32 positions of the name at once, so that wildcards cannot make it
 * backtrack. RFC 9051 6.3.9.
 */
export function patternMatcher(pattern: string): (name: string) => boolean {
  const tokens = withInbox(collapse(pattern.normalize('NFC')));
  return (name) => {
    // After collapsing, wildcards and characters alternate at most.
    if (tokens.length > 2 * name.length + 1) return false;
    const positions = new NamePositions(name);
    // Bit n: the pattern so far matches the first n characters of the name.
    let reach: Uint32Array | undefined = Uint32Array.of(1, ...new Uint32Array(name.length >> 5));
    for (let i = 0; i < tokens.length && reach; i++) reach = positions.advance(reach, tokens[i] ?? '');
    return reach !== undefined && ((reach[name.length >> 5] ?? 0) & (1 << (name.length & 31))) !== 0;
  };
}

const WORD = 2 ** 32;

/** Positions of the characters of a name, as bits. */
class NamePositions {
  readonly #name: string;
  readonly #of = new Map<string, Uint32Array>();

  constructor(name: string) {
    this.#name = name;
  }

  /** Matches one more token; undefined when no position is left. */
  advance(reach: Uint32Array, token: string): Uint32Array | undefined {
    const wild = token === '*' || token === '%';
    // Positions at which the automaton may go on by one character.
    const steps = this.#positions(token);
    let [carry, any] = [0, 0];
    const next = reach.map((word, i) => {
      const free = steps[i] ?? 0;
      const from = (word & free) >>> 0;
      if (!wild) {
        const moved = ((from << 1) | carry) >>> 0;
        carry = from >>> 31;
        any |= moved;
        return moved;
      }
      // The carry of the addition runs from each position to the first one that does not match.
      const sum = from + free + carry;
      carry = sum >= WORD ? 1 : 0;
      const filled = ((sum ^ free) | word) >>> 0;
      any |= filled;
      return filled;
    });
    return any === 0 ? undefined : next;
  }

  /** Positions of a character; for `%` of all but `/`, for `*` of all. */
  #positions(token: string): Uint32Array {
    let bits = this.#of.get(token);
    if (bits === undefined) {
      const name = this.#name;
      bits = new Uint32Array((name.length >> 5) + 1);
      const searched = token === '%' ? '/' : token;
      if (token !== '*')
        for (let at = name.indexOf(searched); at !== -1; at = name.indexOf(searched, at + 1))
          bits[at >> 5]! |= 1 << (at & 31);
      if (token === '*' || token === '%') bits = this.#others(bits);
      this.#of.set(token, bits);
    }
    return bits;
  }

  /** The positions of the name without the given ones. */
  #others(bits: Uint32Array): Uint32Array {
    const { length } = this.#name;
    return bits.map((word, i) => ~word & (i < length >> 5 ? 0xffffffff : (1 << (length & 31)) - 1));
  }
}

/** Collapses a run of wildcards to one, `*` if it has a `*`: `*%*%*%...` would cost its length for every name. */
function collapse(pattern: string): string {
  const out: string[] = [];
  for (const char of pattern) {
    const last = out.at(-1);
    const repeats = (char === '*' || char === '%') && (last === '*' || last === '%');
    if (repeats) out.pop();
    out.push(repeats && last === '*' ? '*' : char);
  }
  return out.join('');
}

function withInbox(pattern: string): string {
  return /^inbox(?![^/*%])/i.test(pattern) ? `INBOX${pattern.slice(5)}` : pattern;
}
