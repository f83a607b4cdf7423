import { COLOR_NAMES } from './valid-value.ts';

/** Red, green and blue, to 255. */
export type Color = readonly [number, number, number];

export const WHITE: Color = [255, 255, 255];
export const BLACK: Color = [0, 0, 0];

const NAMED: Readonly<Record<string, Color>> = {
  white: WHITE,
  black: BLACK,
  canvas: WHITE,
  canvastext: BLACK,
  snow: [255, 250, 250],
  ivory: [255, 255, 240],
  ghostwhite: [248, 248, 255],
  mintcream: [245, 255, 250],
  whitesmoke: [245, 245, 245],
  red: [255, 0, 0],
  lime: [0, 255, 0],
  blue: [0, 0, 255],
  yellow: [255, 255, 0],
  aqua: [0, 255, 255],
  cyan: [0, 255, 255],
  fuchsia: [255, 0, 255],
  magenta: [255, 0, 255],
  gray: [128, 128, 128],
  grey: [128, 128, 128],
  silver: [192, 192, 192],
  maroon: [128, 0, 0],
  green: [0, 128, 0],
  navy: [0, 0, 128],
  olive: [128, 128, 0],
  purple: [128, 0, 128],
  teal: [0, 128, 128],
};

/** Parses a CSS color; `clear`: transparent; undefined: unknown. */
export function readColor(written: string): Color | 'clear' | undefined {
  const text = written.trim().toLowerCase();
  if (text === 'transparent') return 'clear';
  return NAMED[text] ?? hexColor(text) ?? rgbColor(text) ?? colorByName(text);
}

/** Returns a placeholder for other named colors, equal only to itself. */
function colorByName(text: string): Color | undefined {
  const place = COLOR_NAMES.indexOf(text);
  return place < 0 ? undefined : [1_000 * (place + 1), 0, 0];
}

function hexColor(text: string): Color | 'clear' | undefined {
  const digits = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/.exec(text)?.[1] ?? /^#([0-9a-f]{4}|[0-9a-f]{8})$/.exec(text)?.[1];
  if (digits === undefined) return undefined;
  const long = digits.length < 5 ? digits.replace(/./g, '$&$&') : digits;
  const part = (at: number): number => Number.parseInt(long.slice(at, at + 2), 16);
  return long.length === 8 && part(6) < MIN_OPACITY * 255 ? 'clear' : [part(0), part(2), part(4)];
}

/** Opacity below which a color is invisible. */
const MIN_OPACITY = 0.1;
const PARTS = /^rgba?\((\d{1,3})[,\s]{1,3}(\d{1,3})[,\s]{1,3}(\d{1,3})(?:[,/\s]{1,3}([\d.]{1,6})(%?))?\)$/;
const BRIGHTNESS =
  /^hsla?\([\d.]{1,6}(?:deg)?[,\s]{1,3}[\d.]{1,6}%?[,\s]{1,3}([\d.]{1,6})%?(?:[,/\s]{1,3}([\d.]{1,6})(%?))?\)$/;

function rgbColor(text: string): Color | 'clear' | undefined {
  const [, red, green, blue, opacity, percent] = PARTS.exec(text) ?? [];
  if (red === undefined) return hslColor(text);
  return isTransparent(opacity, percent) ? 'clear' : [Number(red), Number(green), Number(blue)];
}

/** HSL colors: only the lightest and the darkest are known, white and black of any hue. */
function hslColor(text: string): Color | 'clear' | undefined {
  const [, brightness, opacity, percent] = BRIGHTNESS.exec(text) ?? [];
  if (brightness === undefined) return undefined;
  if (isTransparent(opacity, percent)) return 'clear';
  if (Number(brightness) > 97) return WHITE;
  return Number(brightness) < 3 ? BLACK : undefined;
}

function isTransparent(opacity = '1', percent = ''): boolean {
  return Number(opacity) < (percent === '%' ? 100 * MIN_OPACITY : MIN_OPACITY);
}

/** Difference per channel, of 255, that readers cannot see. */
const MAX_DIFFERENCE = 10;

/** True if text of one color is invisible on a background of the other. */
export function isIndistinguishable(one: Color, other: Color): boolean {
  return one.every((part, i) => Math.abs(part - (other[i] ?? 0)) <= MAX_DIFFERENCE);
}
