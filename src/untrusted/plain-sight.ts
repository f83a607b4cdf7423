import { createHash } from 'node:crypto';
import { mixesScripts, skeleton } from '../../mail/policy/alike/skeleton.ts';

/**
 * What nobody sees, or what turns or moves what stands beside it: controls, format characters, tags, selectors, letters
 * that are blank, spaces that are none, what is not assigned. A line feed is for the caller.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}]|(?! )\p{Zs}/gu;
/** Where joiners and selectors belong to the writing: within an emoji, and within words of scripts that need them. */
const PICTURE = '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\u{fe0f}]';
const JOINING =
  '[\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}\\p{scx=Mymr}]';
const AT_HOME = [
  /(?<=\p{Extended_Pictographic})\u{fe0f}/uy,
  new RegExp(`(?<=${PICTURE})\\u{200d}(?=\\p{Extended_Pictographic})`, 'uy'),
  new RegExp(`(?<=(?=\\p{L}|\\p{M})${JOINING})[\\u{200c}\\u{200d}](?=${JOINING})`, 'uy'),
];
/** Words, and the whole in which they stand: an address or a host is read by other rules than prose. */
const TOKEN = /\S+/gu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const MOST_NAMED = 4;

/**
 * A text of others as a person may decide by it: what is not seen stands there by its number, and so do the letters of a
 * word that only look like other letters. `lines`: it may have several.
 */
export function inPlainSight(text: string, { lines = false } = {}): string {
  const whole = text.toWellFormed().replace(/\r\n/g, '\n');
  const seen = whole.replace(UNSEEN, (one, at: number) =>
    (lines && (one === '\n' || one === '\t')) || isAtHome(whole, at) ? one : `\u27e8${numberOf(one)}\u27e9`,
  );
  return seen.replace(TOKEN, (token) => {
    const isHost = /[.@]/.test(token);
    return token.replace(WORD, (word) => word + remark(word, isHost));
  });
}

function isAtHome(text: string, at: number): boolean {
  return AT_HOME.some((where) => {
    where.lastIndex = at;
    return where.test(text);
  });
}

/** Of a host any word counts that can be read as a plain one; of prose only what nobody writes in one word. */
function remark(word: string, isHost: boolean): string {
  if (/^[\x20-\x7e]*$/.test(word)) return '';
  const passes = isHost && !/[a-z]/i.test(word) && /^[a-z0-9]+$/.test(skeleton(word));
  if (!passes && !mixesScripts(word)) return '';
  const others = [...new Set(word.match(passes ? /[^\x20-\x7e]/gu : /[^\p{Script=Latin}\p{M}\p{N}]/gu))];
  const named = others.slice(0, MOST_NAMED).map(numberOf).join(' ');
  return `\u27e8other letters: ${named}${others.length > MOST_NAMED ? ' ...' : ''}\u27e9`;
}

function numberOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Longer than anybody reads to its end. */
const LONG = 2_000;

/** What tells a long text from another one that begins and ends like it; nothing for what can be read. */
export function measureOf(text: string): string {
  if (text.length <= LONG) return '';
  const sha256 = createHash('sha256').update(text).digest('hex');
  return ` \u27e8${text.length} characters, SHA-256 ${sha256}\u27e9`;
}
