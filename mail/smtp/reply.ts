/** One SMTP reply. Commands return it; the session loop writes it. RFC 5321 4.2. */
export interface Reply {
  readonly code: number;
  /** Enhanced status code such as `5.1.1`, or empty where RFC 2034 4 allows none (220 banner, EHLO, 334, 354). */
  readonly enhanced: string;
  readonly lines: readonly string[];
}

/** Creates a reply. `lines` are texts without code and line end; formatReply sanitizes quoted input. */
export function reply(code: number, enhanced: string, ...lines: string[]): Reply {
  return { code, enhanced, lines };
}

/** Characters not allowed in a reply line. RFC 5321 4.2: textstring is printable ASCII, space and tab. */
const UNSAFE = /[^\x20-\x7e]/;
const UNSAFE_UTF8 = /[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd]/;
/** RFC 5321 4.5.3.1.5: 512 octets a reply line, with code and CRLF; UTF-8 text may take three octets a character. */
const MAX_TEXT_CHARACTERS = { ascii: 480, utf8: 160 };

/**
 * Formats a reply. Sends non-ASCII only with `utf8`, which requires SMTPUTF8 in the command (RFC 6531 3.7.4.2).
 */
export function formatReply(reply: Reply, utf8 = false): string {
  const { code, enhanced, lines } = reply;
  const space = enhanced === '' ? '' : `${enhanced} `;
  if (lines.length <= 1) return `${code} ${space}${clean(lines[0] ?? '', utf8)}\r\n`;
  let out = '';
  for (let i = 0; i < lines.length; i += 1) {
    const mark = i === lines.length - 1 ? ' ' : '-';
    out += `${code}${mark}${space}${clean(lines[i] ?? '', utf8)}\r\n`;
  }
  return out;
}

// A line end from quoted input would split the reply in two.
function clean(text: string, utf8: boolean): string {
  const [unsafe, longest] = utf8 ? [UNSAFE_UTF8, MAX_TEXT_CHARACTERS.utf8] : [UNSAFE, MAX_TEXT_CHARACTERS.ascii];
  const short = text.length > longest ? `${text.slice(0, longest)}...` : text;
  return unsafe.test(short) ? short.replace(new RegExp(unsafe, 'g'), '?') : short;
}
