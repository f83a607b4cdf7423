/** What a page draws, in order: numbers of what is done, and with what. */
export interface Drawing {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
}

/** The numbers by the names that pdf.js gives them. */
export type Operations = Readonly<Record<string, number>>;

/** The letters of a page without blanks, in the order in which they are drawn, and of each unit whether nobody sees it. */
export interface Glyphs {
  text: string;
  hidden: boolean[];
}

/** ISO 32000-1 9.3.6: neither filled nor drawn around, and the same that only cuts. */
const INVISIBLE = new Set([3, 7]);
/** Of 255, from which on a color is the paper's. */
const PAPER = 245;

interface State {
  mode: number;
  white: boolean;
  clear: boolean;
}

/** Follows what is drawn: text without ink, in white on the bare page, or through and through clear. */
export function seenGlyphs({ fnArray, argsArray }: Drawing, ops: Operations): Glyphs {
  const glyphs: Glyphs = { text: '', hidden: [] };
  const kept: State[] = [];
  let state: State = { mode: 0, white: false, clear: false };
  let painted = false;
  for (const [i, operation] of fnArray.entries()) {
    const args = argsArray[i];
    const first: unknown = Array.isArray(args) ? args[0] : undefined;
    if (operation === ops['save']) kept.push({ ...state });
    else if (operation === ops['restore']) state = kept.pop() ?? state;
    else if (operation === ops['setTextRenderingMode']) state.mode = Number(first);
    else if (operation === ops['setFillRGBColor']) state.white = isPaper(first);
    else if (operation === ops['setFillColorN']) state.white = false;
    else if (operation === ops['setGState']) state.clear = isClear(first, state.clear);
    else if (operation === ops['showText']) {
      add(glyphs, first, INVISIBLE.has(state.mode) || state.clear || (state.white && !painted));
    } else painted ||= isPainting(operation, ops) && !state.white;
  }
  return glyphs;
}

/** What may lie behind white text: then nobody here knows whether it is seen. */
function isPainting(operation: number, ops: Operations): boolean {
  return ['constructPath', 'shadingFill', 'paintImageXObject', 'paintInlineImageXObject'].some(
    (name) => operation === ops[name],
  );
}

function isPaper(color: unknown): boolean {
  if (typeof color !== 'string' || !/^#[0-9a-f]{6}$/i.test(color)) return false;
  return Buffer.from(color.slice(1), 'hex').every((part) => part >= PAPER);
}

function isClear(changes: unknown, before: boolean): boolean {
  if (!Array.isArray(changes)) return before;
  const found: unknown = changes.find((one: unknown) => Array.isArray(one) && one[0] === 'ca');
  return Array.isArray(found) ? Number(found[1]) < 0.1 : before;
}

function add(glyphs: Glyphs, shown: unknown, hidden: boolean): void {
  if (!Array.isArray(shown)) return;
  for (const glyph of shown as readonly unknown[]) {
    if (typeof glyph !== 'object' || glyph === null || !('unicode' in glyph)) continue;
    const text = String(glyph.unicode).replace(/\s+/g, '');
    glyphs.text += text;
    for (let at = 0; at < text.length; at++) glyphs.hidden.push(hidden);
  }
}
