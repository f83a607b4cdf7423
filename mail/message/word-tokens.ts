/** An indexed word with its position in the text, in UTF-16 units. */
export interface WordToken {
  word: string;
  start: number;
  end: number;
  /** Set for the last character of an unspaced run (indexed once more), or its only one. */
  tail?: 'last' | 'only';
}

/** Longer tokens are base64 rather than words and are not indexed. */
const MAX_WORD_CHARS = 64;

/** Scripts without blanks between words; their runs are indexed as pairs of characters. */
const UNSPACED_SCRIPTS =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u30fc\\uff70\\uff9e\\uff9f';
const PIECE = new RegExp(`([${UNSPACED_SCRIPTS}]+)|[^${UNSPACED_SCRIPTS}]+`, 'gu');
/** Soft hyphens and joiners may occur inside words and are ignored. */
const WORD = /[\p{L}\p{N}\p{M}\u00ad\u200c\u200d]+/gu;
const PLAIN_WORD = /[A-Za-z0-9]+/g;
const LETTERS = /[\p{L}\p{N}\p{M}]+/gu;
const ONE_WORD = /^[\p{L}\p{N}\p{M}]+$/u;
const ASCII = /^[\0-\x7f]*$/;

/** Letters without a Unicode decomposition. */
const FOLDS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ς: 'σ',
};

/** Folds case, width, ligatures and accents of a word. */
export function foldWord(word: string): string {
  if (ASCII.test(word)) return word.toLowerCase();
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f\u00ad\u200c\u200d]/g, '')
    .replace(/[ßłøđðþæœıħŧŋς]/g, (letter) => FOLDS[letter] ?? letter)
    .normalize('NFC');
}

/** Splits a text into words with positions. */
export function tokensOf(text: string): WordToken[] {
  const tokens: WordToken[] = [];
  // ASCII is matched without Unicode tables, at a fifth of the cost.
  for (const { 0: word, index } of text.matchAll(ASCII.test(text) ? PLAIN_WORD : WORD)) {
    if (ASCII.test(word)) {
      if (word.length <= MAX_WORD_CHARS)
        tokens.push({ word: word.toLowerCase(), start: index, end: index + word.length });
      continue;
    }
    for (const piece of word.matchAll(PIECE)) {
      const start = index + piece.index;
      if (piece[1] === undefined) foldedTokens(tokens, piece[0], start);
      else pairTokens(tokens, piece[0], start);
    }
  }
  return tokens;
}

/** Adds folded tokens; `½` becomes two words at one position. */
function foldedTokens(tokens: WordToken[], piece: string, start: number): void {
  const folded = foldWord(piece);
  const words = ONE_WORD.test(folded) ? [folded] : (folded.match(LETTERS) ?? []);
  for (const word of words) if (word.length <= MAX_WORD_CHARS) tokens.push({ word, start, end: start + piece.length });
}

function pairTokens(tokens: WordToken[], run: string, start: number): void {
  const folded = foldWord(run);
  const characters = Array.from(folded);
  // Half-width kana and marks merge into one character: positions are then those of the whole run.
  const exact = folded.length === run.length;
  let at = start;
  for (const [i, character] of characters.entries()) {
    const next = characters[i + 1] ?? '';
    const end = at + character.length + next.length;
    const place = exact ? { start: at, end } : { start, end: start + run.length };
    const tail = next === '' && { tail: characters.length === 1 ? ('only' as const) : ('last' as const) };
    tokens.push({ word: character + next, ...place, ...tail });
    at += character.length;
  }
}

/**
 * Prepares a text for the full-text index: the words of {@link tokensOf} separated by blanks. ASCII stays as it is, as
 * the index lowercases and splits it.
 */
export function segment(text: string): string {
  if (ASCII.test(text)) return withoutLongRuns(text);
  const words: string[] = [];
  for (const [word] of text.matchAll(WORD)) {
    if (!ASCII.test(word)) for (const token of tokensOf(word)) words.push(token.word);
    else if (word.length <= MAX_WORD_CHARS) words.push(word);
  }
  return words.join(' ');
}

/**
 * Replaces runs of more than {@link MAX_WORD_CHARS} letters and digits. Reads every 64th character and the run around
 * it, which is linear: no position is read more than three times.
 */
function withoutLongRuns(text: string): string {
  let kept = '';
  let from = 0;
  for (let at = MAX_WORD_CHARS; at < text.length; at += MAX_WORD_CHARS) {
    if (!isAlphanumeric(text, at)) continue;
    let [start, end] = [at, at + 1];
    while (start > from && isAlphanumeric(text, start - 1)) start--;
    while (isAlphanumeric(text, end)) end++;
    if (end - start <= MAX_WORD_CHARS) continue;
    kept += `${text.slice(from, start)} `;
    from = end;
    at = end;
  }
  return from === 0 ? text : kept + text.slice(from);
}

/** False behind the end of the text. */
function isAlphanumeric(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90);
}
