/** A word as it is indexed, and where the text has it, in UTF-16 units. */
export interface Token {
  word: string;
  start: number;
  end: number;
  /** Of a run without blanks: its last character once more, or its only one. */
  tail?: 'last' | 'only';
}

/** Longer ones are no words but somebody's base64: they would only make the index large. */
const LONGEST = 64;

/** Scripts that put no blanks between words: what stands together is indexed by pairs of characters. */
const RUNS =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u30fc\\uff70\\uff9e\\uff9f';
const PIECE = new RegExp(`([${RUNS}]+)|[^${RUNS}]+`, 'gu');
/** Soft hyphens and joiners stand inside words and are no part of them. */
const WORD = /[\p{L}\p{N}\p{M}\u00ad\u200c\u200d]+/gu;
const PLAIN_WORD = /[A-Za-z0-9]+/g;
const LETTERS = /[\p{L}\p{N}\p{M}]+/gu;
const ONE_WORD = /^[\p{L}\p{N}\p{M}]+$/u;
const ASCII = /^[\0-\x7f]*$/;

/** Letters that no decomposition takes apart. */
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

/** The same for all spellings of a word that a person takes for one: case, width, ligatures, accents. */
export function fold(word: string): string {
  if (ASCII.test(word)) return word.toLowerCase();
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f\u00ad\u200c\u200d]/g, '')
    .replace(/[ßłøđðþæœıħŧŋς]/g, (letter) => FOLDS[letter] ?? letter)
    .normalize('NFC');
}

/** The words of a text with their places. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  // Most text is ASCII, or has words that are: without the tables of Unicode they cost a fifth.
  for (const { 0: word, index } of text.matchAll(ASCII.test(text) ? PLAIN_WORD : WORD)) {
    if (ASCII.test(word)) {
      if (word.length <= LONGEST) tokens.push({ word: word.toLowerCase(), start: index, end: index + word.length });
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

/** `½` becomes two words in one place. */
function foldedTokens(tokens: Token[], piece: string, start: number): void {
  const folded = fold(piece);
  const words = ONE_WORD.test(folded) ? [folded] : (folded.match(LETTERS) ?? []);
  for (const word of words) if (word.length <= LONGEST) tokens.push({ word, start, end: start + piece.length });
}

function pairTokens(tokens: Token[], run: string, start: number): void {
  const folded = fold(run);
  const characters = Array.from(folded);
  // Half-width kana and its marks become one character: then the whole run is the place.
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
 * A text as the full-text index takes it: the words of {@link tokensOf} with blanks between. ASCII stays as it is, for the
 * index itself lowers it and parts it at what is neither letter nor digit.
 */
export function segment(text: string): string {
  if (ASCII.test(text)) return text.replace(/[A-Za-z0-9]{65,}/g, ' ');
  const words: string[] = [];
  for (const [word] of text.matchAll(WORD)) {
    if (!ASCII.test(word)) for (const token of tokensOf(word)) words.push(token.word);
    else if (word.length <= LONGEST) words.push(word);
  }
  return words.join(' ');
}
