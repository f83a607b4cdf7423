import { decodeBase64, decodeCharset, decodeQuotedPrintable, guessLatin1, isKnownCharset } from './decode.ts';

// Blanks inside violate RFC 2047 2 but are common. Question marks are excluded, which keeps matching linear.
const WORD = /=\?([^?\s]{1,60})\?([BbQq])\?([^?]*)\?=/g;

/** Encoded-word in a position allowed by RFC 2047 2 and 5: blanks around it, none inside. */
const PLACED_WORD = /(?<![^ \t])=\?([^\x00-\x20()<>@,;:"/[\]?.=\x7f-\xff]{1,60})\?([BbQq])\?([!->@-~]*)\?=(?![^ \t])/g;

interface WordRun {
  charset: string;
  octets: Buffer[];
}

/**
 * Decodes header text that was read as latin1: encoded-words of RFC 2047, and raw 8-bit text as UTF-8 or windows-1252.
 * Invalid encoded-words stay as they are. Rejoins a character split over adjacent words.
 */
export function decodeWords(text: string): string {
  return decodeMatching(text, { pattern: WORD, takes: () => true, shown: (decoded) => decoded });
}

/**
 * Decodes by RFC 8621 4.1.2.2: only encoded-words of a known charset in allowed positions; removes control characters
 * from them.
 */
export function decodePlacedWords(text: string): string {
  return decodeMatching(text, {
    pattern: PLACED_WORD,
    takes: isKnownCharset,
    shown: (decoded) => decoded.replace(/[\x00-\x1f\x7f-\x9f]/g, ''),
  });
}

interface WordRules {
  pattern: RegExp;
  takes: (charset: string) => boolean;
  /** Post-processes a decoded run. */
  shown: (decoded: string) => string;
}

function decodeMatching(text: string, { pattern, takes, shown }: WordRules): string {
  if (!text.includes('=?')) return guessLatin1(text);
  const flush = (run: WordRun | undefined): string =>
    run === undefined ? '' : shown(decodeCharset(Buffer.concat(run.octets), run.charset));
  let out = '';
  let at = 0;
  let run: WordRun | undefined;
  for (const match of text.matchAll(pattern)) {
    const between = text.slice(at, match.index);
    const charset = (match[1] ?? '').replace(/\*.*$/, '').toLowerCase();
    if (!takes(charset)) continue;
    // RFC 2047 6.2: blanks between two encoded-words are not shown.
    const adjacent = run !== undefined && between.trim() === '';
    if (run === undefined || !adjacent || run.charset !== charset) {
      out += flush(run) + (adjacent ? '' : guessLatin1(between));
      run = { charset, octets: [] };
    }
    run.octets.push(wordOctets(match[2] ?? '', match[3] ?? ''));
    at = match.index + match[0].length;
  }
  return out + flush(run) + guessLatin1(text.slice(at));
}

function wordOctets(encoding: string, text: string): Buffer {
  if (encoding === 'B' || encoding === 'b') return decodeBase64(Buffer.from(text, 'latin1'));
  return decodeQuotedPrintable(Buffer.from(text.replace(/_/g, '=20'), 'latin1'));
}

/** Octets of text in an encoded-word of 75 characters. */
const MAX_WORD_OCTETS = 45;

/** Encodes text as encoded-words of at most 75 characters, separated by blanks. RFC 2047 2. */
export function encodeWords(text: string): string {
  const octets = Buffer.from(text.toWellFormed());
  const words: string[] = [];
  for (let at = 0; at < octets.length || words.length === 0;) {
    let end = Math.min(at + MAX_WORD_OCTETS, octets.length);
    // RFC 2047 5: a character is never split between words.
    while (((octets[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    words.push(`=?utf-8?B?${octets.toString('base64', at, end)}?=`);
    at = end;
  }
  return words.join(' ');
}

/** Converts latin1-read header text to 7-bit: runs of 8-bit words become encoded-words. */
export function sevenBitText(text: string): string {
  const out: string[] = [];
  let run: string[] = [];
  const flushRun = (next: string): void => {
    if (run.length === 0) return;
    // Blanks between encoded-words are not displayed, so those next to existing ones are encoded too.
    const before = out.at(-1)?.endsWith('?=') === true ? ' ' : '';
    const behind = next.startsWith('=?') ? ' ' : '';
    out.push(encodeWords(before + guessLatin1(run.join(' ')) + behind));
    run = [];
  };
  for (const word of text.split(' ')) {
    if (/[\x80-\xff]/.test(word)) run.push(word);
    else {
      flushRun(word);
      out.push(word);
    }
  }
  flushRun('');
  return out.join(' ');
}
