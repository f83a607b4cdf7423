/** Operator list of a page as pdf.js returns it. */
export interface OperatorList {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
}

/** Operator numbers by their pdf.js names. */
export type Operations = Readonly<Record<string, number>>;

/** Letters of a page without blanks, in drawing order, and for each UTF-16 unit whether it is hidden. */
export interface Glyphs {
  text: string;
  hidden: boolean[];
}

/** Text rendering modes without ink: invisible, and clipping only. ISO 32000-1 9.3.6. */
const INVISIBLE = new Set([3, 7]);
/** Color components from here to 255 count as paper white. */
const MIN_PAPER_COMPONENT = 245;

interface GraphicsState {
  mode: number;
  white: boolean;
  clear: boolean;
}

/** Follows the drawing operators and marks text without ink, white text on a blank page, and transparent text. */
export function visibleGlyphs({ fnArray, argsArray }: OperatorList, ops: Operations): Glyphs {
  const glyphs: Glyphs = { text: '', hidden: [] };
  const kept: GraphicsState[] = [];
  let state: GraphicsState = { mode: 0, white: false, clear: false };
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

/** True for operators that may paint a background, on which white text may be visible. */
function isPainting(operation: number, ops: Operations): boolean {
  return ['constructPath', 'shadingFill', 'paintImageXObject', 'paintInlineImageXObject'].some(
    (name) => operation === ops[name],
  );
}

function isPaper(color: unknown): boolean {
  if (typeof color !== 'string' || !/^#[0-9a-f]{6}$/i.test(color)) return false;
  return Buffer.from(color.slice(1), 'hex').every((part) => part >= MIN_PAPER_COMPONENT);
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
