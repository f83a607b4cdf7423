/** Characters that were taken out of a text because no reader sees them. */
export interface Unseen {
  /** Without width, or that turn the direction of what follows. */
  zeroWidth: number;
  /** Tag characters and the selectors beside them: each can carry a letter that nobody sees. */
  tagChars: number;
}

const TAGS = /[\u{e0000}-\u{e0fff}]/gu;
const WIDTHLESS =
  /\u{34f}|[\u{fe00}-\u{fe0f}]|[\u{ad}\u{61c}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180b}-\u{180f}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}\u{3164}\u{feff}\u{ffa0}\u{fff0}-\u{fffb}\u{1d173}-\u{1d17a}]/gu;
/** C0 without tab and line feed, C1, line separators, and the private use that marks our own places in a text. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\ue000-\uf8ff]/g;

/** A text without what a reader does not see; line ends are "\n". */
export function visibleText(text: string): { text: string } & Unseen {
  const lines = text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(CONTROLS, '');
  const untagged = lines.replace(TAGS, '');
  const visible = untagged.replace(WIDTHLESS, '');
  // Two units of UTF-16 each.
  return { text: visible, tagChars: (lines.length - untagged.length) / 2, zeroWidth: untagged.length - visible.length };
}

/** The same on one line of at most `most` characters, of which a quarter may be signs that JSON doubles. */
export function visibleLine(text: string, most: number): string {
  const line = visibleText(text.slice(0, 4 * most))
    .text.replace(/\s+/g, ' ')
    .trim();
  const room = most + Math.ceil(most / 4) - (line.slice(0, most).match(/["\\]/g)?.length ?? 0);
  if (line.length <= Math.min(most, room)) return line;
  return `${line.slice(0, Math.min(most, room) - 1).toWellFormed()}\u2026`;
}
