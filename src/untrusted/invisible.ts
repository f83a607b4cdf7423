import { createHash } from 'node:crypto';
import { mixesScripts, skeleton } from '../../mail/policy/look-alike/skeleton.ts';

/** Counts of invisible characters removed from a text. */
export interface InvisibleCounts {
  /** Zero-width and bidirectional control characters. */
  zeroWidth: number;
  /** Tag characters and variation selectors, which can encode hidden letters. */
  tagChars: number;
}

const TAGS = /[\u{e0000}-\u{e0fff}]/gu;
const WIDTHLESS =
  /\u{34f}|[\u{fe00}-\u{fe0f}]|[\u{ad}\u{61c}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180b}-\u{180f}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}\u{3164}\u{feff}\u{ffa0}\u{fff0}-\u{fffb}\u{1d173}-\u{1d17a}]/gu;
/** C0 without tab and line feed, C1, and the private use characters that serve as placeholders. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\ue000-\uf8ff]/g;

/** Removes invisible characters; line ends become "\n". */
export function visibleText(text: string): { text: string } & InvisibleCounts {
  const lines = text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(CONTROLS, '');
  const untagged = lines.replace(TAGS, '');
  const visible = untagged.replace(WIDTHLESS, '');
  // Two units of UTF-16 each.
  return { text: visible, tagChars: (lines.length - untagged.length) / 2, zeroWidth: untagged.length - visible.length };
}

/** The same on one line of at most `most` characters, a quarter of which may need JSON escapes. */
export function visibleLine(text: string, most: number): string {
  const line = visibleText(text.slice(0, 4 * most))
    .text.replace(/\s+/g, ' ')
    .trim();
  const room = most + Math.ceil(most / 4) - (line.slice(0, most).match(/["\\]/g)?.length ?? 0);
  if (line.length <= Math.min(most, room)) return line;
  return `${line.slice(0, Math.min(most, room) - 1).toWellFormed()}\u2026`;
}

/**
 * Characters that are invisible or change the order or position of others: controls, format characters, tags, selectors,
 * blank letters, unusual spaces, unassigned code points. The caller handles line feeds.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}]|(?! )\p{Zs}/gu;
/** Legitimate joiners and selectors: within an emoji, and within words of scripts that need them. */
const PICTURE = '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\u{fe0f}]';
const JOINING =
  '[\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}\\p{scx=Mymr}]';
const LEGITIMATE = [
  /(?<=\p{Extended_Pictographic})\u{fe0f}/uy,
  new RegExp(`(?<=${PICTURE})\\u{200d}(?=\\p{Extended_Pictographic})`, 'uy'),
  new RegExp(`(?<=(?=\\p{L}|\\p{M})${JOINING})[\\u{200c}\\u{200d}](?=${JOINING})`, 'uy'),
];
/** Words, and the token around them: addresses and hosts are checked by other rules than prose. */
const TOKEN = /\S+/gu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const MAX_NAMED = 4;

/**
 * Prepares untrusted text for a person's decision: invisible characters are shown as code points, and so are look-alike
 * letters in a word. `lines`: several lines are allowed.
 */
export function revealInvisible(text: string, { lines = false } = {}): string {
  const whole = text.toWellFormed().replace(/\r\n/g, '\n');
  const seen = whole.replace(INVISIBLE, (one, at: number) =>
    (lines && (one === '\n' || one === '\t')) || isLegitimate(whole, at) ? one : `\u27e8${numberOf(one)}\u27e9`,
  );
  return seen.replace(TOKEN, (token) => {
    const isHost = /[.@]/.test(token);
    return token.replace(WORD, (word) => word + remark(word, isHost));
  });
}

function isLegitimate(text: string, at: number): boolean {
  return LEGITIMATE.some((where) => {
    where.lastIndex = at;
    return where.test(text);
  });
}

/** Remarks on look-alike letters: in a host, any word that resembles ASCII; in prose, only words of mixed scripts. */
function remark(word: string, isHost: boolean): string {
  if (/^[\x20-\x7e]*$/.test(word)) return '';
  const passes = isHost && !/[a-z]/i.test(word) && /^[a-z0-9]+$/.test(skeleton(word));
  if (!passes && !mixesScripts(word)) return '';
  const others = [...new Set(word.match(passes ? /[^\x20-\x7e]/gu : /[^\p{Script=Latin}\p{M}\p{N}]/gu))];
  const named = others.slice(0, MAX_NAMED).map(numberOf).join(' ');
  return `\u27e8other letters: ${named}${others.length > MAX_NAMED ? ' ...' : ''}\u27e9`;
}

function numberOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Characters; longer texts are identified by length and hash. */
const MAX_READABLE_CHARS = 2_000;

/** Describes a long text by length and SHA-256, which distinguishes it from one with the same beginning and end; '' for short texts. */
export function describeLength(text: string): string {
  if (text.length <= MAX_READABLE_CHARS) return '';
  const sha256 = createHash('sha256').update(text).digest('hex');
  return ` \u27e8${text.length} characters, SHA-256 ${sha256}\u27e9`;
}
