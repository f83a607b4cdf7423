import type { Tag } from '../html-tags.ts';
import { nextOutside } from './outside.ts';
import { isTaken } from './valid.ts';

/** Where an element is put, from which on no window reaches it. */
const PLACES = ['left', 'right', 'top', 'bottom', 'margin-left', 'margin-top', 'text-indent'] as const;
/** The properties that say whether something is seen. */
const PROPERTIES = [
  ...PLACES,
  ...(['display', 'visibility', 'mso-hide', 'content-visibility', 'zoom', 'scale', 'opacity', 'filter'] as const),
  ...(['max-height', 'max-width', 'height', 'width', 'overflow', 'line-height', 'font-size', 'font'] as const),
  ...(['clip', 'clip-path', 'transform', 'color', '-webkit-text-fill-color'] as const),
  ...(['background', 'background-color', 'background-image'] as const),
] as const;
export type Property = (typeof PROPERTIES)[number];
const KNOWN: ReadonlySet<string> = new Set(PROPERTIES);

/** What is said of an element, by property; lower case, without blanks. */
export type Declared = ReadonlyMap<Property, string>;

const NONE: ReturnType<typeof declarationsOf> = { usual: new Map(), important: new Map() };

/** The declarations of a block: those with `!important` apart, of two of one property the last. CSS 2.2 4.1.8. */
export function declarationsOf(block: string): { usual: Declared; important: Declared } {
  if (block === '') return NONE;
  const usual = new Map<Property, string>();
  const important = new Map<Property, string>();
  for (let at = 0, end = 0; at < block.length; at = end + 1) {
    end = nextOutside(block, at, ';');
    const colon = nextOutside(block.slice(at, end), 0, ':');
    const property = plain(block.slice(at, at + colon));
    if (!isKnown(property)) continue;
    const value = plain(block.slice(at + colon + 1, end));
    const urgent = value.endsWith('!important');
    declare(urgent ? important : usual, property, urgent ? value.slice(0, -'!important'.length) : value);
  }
  return { usual, important };
}

/** What browsers do not understand changes nothing that was said before. */
export function declare(style: Map<Property, string>, property: Property, value: string): void {
  if (style.has(property) && !isTaken(property, value)) return;
  style.set(property, value);
  if (property !== 'background' || !isTaken('background-color', value.replace(BESIDE, ''))) return;
  style.delete('background-color');
  style.delete('background-image');
}

function plain(text: string): string {
  return (
    text
      .replace(/\/\*[\s\S]*?(?:\*\/|$)/g, '')
      .toLowerCase()
      .replace(ESCAPED, (_, digits?: string, sign?: string) => sign ?? character(digits ?? ''))
      // Numbers are parted by blanks or by commas, whichever.
      .replace(/(?<=[\d%])\s+(?=[\d.])/g, ',')
      .replace(/\s+/g, '')
  );
}

function isKnown(property: string): property is Property {
  return KNOWN.has(property);
}

/** CSS 2.2 4.1.3: a letter by its number, or a sign as it is. */
const ESCAPED = /\\(?:([0-9a-f]{1,6})\s?|([^0-9a-f\s]))/g;

function character(digits: string): string {
  const code = Number.parseInt(digits, 16);
  return code > 0x10ffff ? '' : String.fromCodePoint(code).toLowerCase();
}

/** Whether nobody sees an element, and what is in it, whatever color it has. */
export function hides(style: Declared): boolean {
  if (style.size === 0) return false;
  const is = (property: Property, ...values: string[]): boolean => values.includes(style.get(property) ?? '-');
  return (
    is('display', 'none') ||
    is('visibility', 'hidden', 'collapse') ||
    is('mso-hide', 'all') ||
    is('content-visibility', 'hidden') ||
    is('zoom', '0', '0%') ||
    is('scale', '0', '0%') ||
    is('max-height', '0', '0px') ||
    is('max-width', '0', '0px') ||
    (is('overflow', 'hidden') && (is('height', '0', '0px', '1px') || is('width', '0', '0px', '1px'))) ||
    (is('overflow', 'hidden') && is('line-height', '0', '0px')) ||
    isFaint(style.get('opacity') ?? '1') ||
    isFaint(/\bopacity\(([\d.]{1,6}%?)\)/.exec(style.get('filter') ?? '')?.[1] ?? '1') ||
    isTiny(style.get('font-size') ?? '') ||
    isTiny(/(\d[\d.]{0,6}(?:px|pt|r?em|%)?)\//.exec(style.get('font') ?? '')?.[1] ?? '') ||
    isAway(style)
  );
}

/** Put where no window reaches, or cut or drawn down to nothing. */
function isAway(style: Declared): boolean {
  const far = PLACES.some((property) => Number.parseFloat(style.get(property) ?? '0') < -500);
  const shape = `${style.get('clip') ?? ''} ${style.get('clip-path') ?? ''} ${style.get('transform') ?? ''}`;
  return far || /rect\((?:[01](?:px)?,?){4}\)|inset\((?:50|100)%\)|scale\(0\)|translate[xy]?\(-\d{4}/.test(shape);
}

function isFaint(opacity: string): boolean {
  return Number.parseFloat(opacity) < (opacity.endsWith('%') ? 10 : 0.1);
}

function isTiny(size: string): boolean {
  const [, number = '', unit = ''] = /^(\d{0,4}(?:\.\d{1,6})?)([a-z%]{0,4})$/.exec(size) ?? [];
  if (number === '') return false;
  const pixels = Number(number) * ({ em: 16, rem: 16, '%': 0.16, pt: 1.33 }[unit] ?? 1);
  return pixels < 2;
}

/** What an element says of its colors; undefined: nothing. What is not understood here is as it was written. */
export function colorsOf(style: Declared, { name, attributes }: Tag): { text?: string; behind?: string } {
  const filled = style.get('-webkit-text-fill-color');
  const own = style.get('color') ?? (name === 'font' ? attributes.get('color') : undefined);
  const usual = own ?? (name === 'body' ? attributes.get('text') : undefined);
  const text = filled === undefined || /^(?:currentcolor|initial|unset)$/.test(filled) ? usual : filled;
  const isColored = COLORED.has(name);
  const image =
    !['none', 'initial', 'unset'].includes(style.get('background-image') ?? 'none') ||
    (isColored && attributes.has('background'));
  const all = style.get('background')?.replace(BESIDE, '');
  const behind = style.get('background-color') ?? all ?? (isColored ? attributes.get('bgcolor') : undefined);
  return {
    ...(text !== undefined && { text: /^(?:currentcolor|unset|revert)$/.test(text) ? 'inherit' : text }),
    ...(image ? { behind: 'unknown' } : behind !== undefined && { behind }),
  };
}

/** What may stand beside a color and has none. */
const BESIDE = /none|(?:no-)?repeat(?:-[xy])?|scroll|fixed/g;
/** Others have no color, and no picture, by an attribute. */
const COLORED: ReadonlySet<string> = new Set('body table thead tbody tfoot tr td th'.split(' '));
