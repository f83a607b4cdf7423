import { minutesAhead } from './local-time.ts';
import { toUtf7 } from './mailbox-name.ts';

// All results are latin1 strings: write them with encoding 'latin1'. Input is latin1 too unless documented.

/** Characters of a quoted string; longer ones break line limits of old clients and are sent as literals. */
const MAX_QUOTED = 1000;

/** The years that the grammar of a date has, in ms. */
const FIRST_DATE = -62135596800000;
const LAST_DATE = 253402300799000;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `"text"`, or a literal when it is 8-bit, has CR, LF or NUL, or is long. RFC 9051 9 `string`. */
export function string(text: string): string {
  if (text.length >= MAX_QUOTED || /[^\x01-\x09\x0b\x0c\x0e-\x7f]/.test(text)) return `{${text.length}}\r\n${text}`;
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

export function nstring(text: string | null): string {
  return text === null ? 'NIL' : string(text);
}

/** A mailbox name (UTF-8 in a JS string) as modified UTF-7, or as UTF-8 after ENABLE UTF8=ACCEPT or IMAP4rev2. */
export function mailbox(name: string, utf8 = false): string {
  if (!utf8 || /^[\x20-\x7e]*$/.test(name)) return atomOrString(utf8 ? name : toUtf7(name));
  // RFC 6855 3: quoted strings may have UTF-8 once the client asked for it.
  return `"${Buffer.from(name).toString('latin1').replace(/["\\]/g, '\\$&')}"`;
}

/** An atom if possible: `INBOX`; else a string: `"My box"`. */
function atomOrString(text: string): string {
  const bare = /^[A-Za-z0-9&+,\-./:;<=>@^_`|~!$#?]+$/.test(text) && text.length < MAX_QUOTED && !/^nil$/i.test(text);
  return bare ? text : string(text);
}

/** `(\Seen keyword)` */
export function flagList(names: readonly string[]): string {
  return `(${names.join(' ')})`;
}

/** `"17-Jul-1996 02:44:25 +0000"` in the server's time zone, from ms UTC. RFC 9051 9 `date-time`. */
export function internalDate(ms: number): string {
  const at = Math.min(Math.max(Number.isFinite(ms) ? ms : 0, FIRST_DATE), LAST_DATE);
  const ahead = minutesAhead(at);
  const date = new Date(Math.min(Math.max(at + ahead * 60_000, FIRST_DATE), LAST_DATE));
  const day = String(date.getUTCDate()).padStart(2, ' ');
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const time = date.toISOString().slice(11, 19);
  return `"${day}-${MONTHS[date.getUTCMonth()]}-${year} ${time} ${zone(ahead)}"`;
}

/** `+0530`, from minutes ahead of UTC. */
function zone(ahead: number): string {
  const minutes = Math.abs(ahead);
  const digits = Math.floor(minutes / 60) * 100 + (minutes % 60);
  return `${ahead < 0 ? '-' : '+'}${String(digits).padStart(4, '0')}`;
}

/** `1:3,7`: joins consecutive UIDs and keeps the order (COPYUID pairs by it). '' for none. */
export function uidSet(uids: ArrayLike<number>): string {
  const parts: string[] = [];
  for (let i = 0; i < uids.length; i++) {
    const from = uids[i] ?? 0;
    let to = from;
    while (i + 1 < uids.length && uids[i + 1] === to + 1) {
      to++;
      i++;
    }
    parts.push(from === to ? `${from}` : `${from}:${to}`);
  }
  return parts.join(',');
}

/** Numbers written as octets at once: bounds the buffer that they are written to. */
const NUMBERS_AT_ONCE = 4096;
/** Digits of a number of 32 bits, and the space before it. */
const MAX_NUMBER = 11;

/** ` 2 3 57`: a space before each number; '' for none. A search returns thousands, for which `join` takes five times as long. */
export function spacedNumbers(numbers: Uint32Array): string {
  let text = '';
  const octets = Buffer.allocUnsafe(MAX_NUMBER * Math.min(NUMBERS_AT_ONCE, numbers.length));
  for (let from = 0; from < numbers.length; from += NUMBERS_AT_ONCE) {
    const end = Math.min(from + NUMBERS_AT_ONCE, numbers.length);
    let size = 0;
    for (let at = from; at < end; at++) size = writeSpaced(octets, size, numbers[at] as number);
    text += octets.toString('latin1', 0, size);
  }
  return text;
}

/** Writes a space and the digits of a number of 32 bits. Returns the offset behind them. */
function writeSpaced(octets: Buffer, offset: number, number: number): number {
  const end = offset + 1 + digitsOf(number);
  let rest = number;
  for (let at = end - 1; at > offset; at--) {
    const next = (rest / 10) >>> 0;
    octets[at] = 0x30 + rest - next * 10;
    rest = next;
  }
  octets[offset] = 0x20;
  return end;
}

function digitsOf(number: number): number {
  let digits = 1;
  for (let limit = 10; number >= limit; limit *= 10) digits++;
  return digits;
}

/**
 * One line with its CRLF: `tag OK [CODE] text`. The text is never empty: some clients fail on that. Characters outside
 * printable ASCII become `?`, so that no message, name or error can inject a second line.
 */
export function statusLine(
  tag: string,
  status: 'OK' | 'NO' | 'BAD' | 'BYE' | 'PREAUTH',
  code: string | undefined,
  text: string,
): string {
  const clean = text.replace(/[^\x20-\x7e]/g, '?').trim();
  return `${tag} ${status} ${code === undefined || code === '' ? '' : `[${code}] `}${clean === '' ? 'Done' : clean}\r\n`;
}

/** `* text` and CRLF. */
export function untagged(text: string): string {
  return `* ${text}\r\n`;
}

/** `+ text` and CRLF. The space is always sent, also for an empty SASL challenge: a bare `+` breaks clients. */
export function continuation(text = 'Go ahead'): string {
  return `+ ${text}\r\n`;
}
