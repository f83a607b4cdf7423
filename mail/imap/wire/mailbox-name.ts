import { isMailboxLevel } from '../../message/mailbox-level.ts';

/** Octets of UTF-8 in a whole name. */
const NAME = 1000;
const LEVELS = 50;

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,';

/**
 * The one spelling of a name in UTF-8: NFC, `INBOX` in upper case also as a parent, without a trailing `/` (CREATE may
 * have one, RFC 9051 6.3.4). Undefined when it cannot be a name: a level is empty, it is too long, or it has control
 * characters, which would break answers and logs.
 */
export function canonicalName(name: string): string | undefined {
  const trimmed = name.endsWith('/') ? name.slice(0, -1) : name;
  if (trimmed.length > NAME) return undefined;
  const levels = trimmed.normalize('NFC').split('/');
  if (levels.length > LEVELS || !levels.every(isMailboxLevel)) return undefined;
  // RFC 9051 5.1: INBOX in any case is the inbox; what lies below it has it as its parent.
  if (/^inbox$/i.test(levels[0] ?? '')) levels[0] = 'INBOX';
  const canonical = levels.join('/');
  return Buffer.byteLength(canonical) > NAME ? undefined : canonical;
}

/**
 * Modified UTF-7 of RFC 3501 5.1.3 to text. What is not well-formed (and what has characters of its own beyond ASCII:
 * clients that send UTF-8 unasked) stays as it was written, so that it still names something.
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

/** Text to modified UTF-7. */
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
  // Padding is zero and shorter than a digit, and nothing is encoded that need not be: `&AC8-` would smuggle a `/`.
  const padded = bits < 6 && (held & ((1 << bits) - 1)) === 0;
  return padded && text !== '' && text.isWellFormed() && !/[\x20-\x7e]/.test(text) ? text : undefined;
}

function encodeRun(text: string): string {
  const utf16 = Buffer.from(text, 'utf16le').swap16();
  return utf16.toString('base64').replaceAll('/', ',').replace(/=+$/, '');
}

/**
 * Tells which canonical names a LIST pattern matches: `*` is anything, `%` anything but `/`, a first level INBOX is
 * compared without case. Time is bounded by the product of the lengths, however many wildcards. RFC 9051 6.3.9.
 */
export function patternMatcher(pattern: string): (name: string) => boolean {
  const wanted = withInbox(collapse(pattern.normalize('NFC')));
  return (name) => {
    // After collapsing, wildcards and characters alternate at most.
    if (wanted.length > 2 * name.length + 1) return false;
    // Which lengths of the name the pattern read so far can match.
    let reach: Uint8Array | undefined = new Uint8Array(name.length + 1);
    reach[0] = 1;
    for (let i = 0; i < wanted.length && reach; i++) reach = advance(reach, wanted.charCodeAt(i), name);
    return reach?.[name.length] === 1;
  };
}

const STAR = 0x2a;
const PERCENT = 0x25;
const SLASH = 0x2f;

function advance(reach: Uint8Array, char: number, name: string): Uint8Array | undefined {
  const next = new Uint8Array(reach.length);
  const wild = char === STAR || char === PERCENT;
  let any = false;
  let open = false;
  for (let at = 0; at < reach.length; at++) {
    if (char === PERCENT && at > 0 && name.charCodeAt(at - 1) === SLASH) open = false;
    open ||= wild && reach[at] === 1;
    if (!open && (wild || at === 0 || reach[at - 1] !== 1 || name.charCodeAt(at - 1) !== char)) continue;
    next[at] = 1;
    any = true;
  }
  return any ? next : undefined;
}

/** A run of wildcards is one of them: `*` when it has a `*`. `*%*%*%...` would otherwise cost its length for every name. */
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
