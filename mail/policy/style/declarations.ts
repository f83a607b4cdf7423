import type { HtmlTag } from '../html-tags.ts';
import { findOutside } from './find-outside.ts';
import { isValidValue } from './valid-value.ts';

/** Properties that can move an element out of the window. */
const OFFSETS = ['left', 'right', 'top', 'bottom', 'margin-left', 'margin-top', 'text-indent'] as const;
/** Properties that affect visibility. */
const PROPERTIES = [
  ...OFFSETS,
  ...(['display', 'visibility', 'mso-hide', 'content-visibility', 'zoom', 'scale', 'opacity', 'filter'] as const),
  ...(['max-height', 'max-width', 'height', 'width', 'overflow', 'line-height', 'font-size', 'font'] as const),
  ...(['clip', 'clip-path', 'transform', 'color', '-webkit-text-fill-color'] as const),
  ...(['background', 'background-color', 'background-image'] as const),
] as const;
export type Property = (typeof PROPERTIES)[number];
const KNOWN: ReadonlySet<string> = new Set(PROPERTIES);

/** Declarations of an element by property; values in lower case, without blanks. */
export type StyleDeclarations = ReadonlyMap<Property, string>;

const NONE: ReturnType<typeof parseDeclarations> = { usual: new Map(), important: new Map() };

/** Parses a declaration block; `!important` separate; the last of duplicates wins. CSS 2.2 4.1.8. */
export function parseDeclarations(block: string): { usual: StyleDeclarations; important: StyleDeclarations } {
  if (block === '') return NONE;
  const usual = new Map<Property, string>();
  const important = new Map<Property, string>();
  for (let at = 0, end = 0; at < block.length; at = end + 1) {
    end = findOutside(block, at, ';');
    const colon = findOutside(block.slice(at, end), 0, ':');
    const property = plain(block.slice(at, at + colon));
    if (!isKnown(property)) continue;
    const value = plain(block.slice(at + colon + 1, end));
    const urgent = value.endsWith('!important');
    declare(urgent ? important : usual, property, urgent ? value.slice(0, -'!important'.length) : value);
  }
  return { usual, important };
}

/** Adds a declaration. An invalid value does not override a previous one. */
export function declare(style: Map<Property, string>, property: Property, value: string): void {
  if (style.has(property) && !isValidValue(property, value)) return;
  style.set(property, value);
  if (property !== 'background' || !isValidValue('background-color', value.replace(BESIDE, ''))) return;
  style.delete('background-color');
  style.delete('background-image');
}

function plain(text: string): string {
  return (
    text
      .replace(/\/\*[\s\S]*?(?:\*\/|$)/g, '')
      .toLowerCase()
      .replace(ESCAPED, (_, digits?: string, sign?: string) => sign ?? character(digits ?? ''))
      // Numbers are separated by blanks or commas.
      .replace(/(?<=[\d%])\s+(?=[\d.])/g, ',')
      .replace(/\s+/g, '')
  );
}

function isKnown(property: string): property is Property {
  return KNOWN.has(property);
}

/** Escape: a code point, or a literal character. CSS 2.2 4.1.3. */
const ESCAPED = /\\(?:([0-9a-f]{1,6})\s?|([^0-9a-f\s]))/g;

function character(digits: string): string {
  const code = Number.parseInt(digits, 16);
  return code > 0x10ffff ? '' : String.fromCodePoint(code).toLowerCase();
}

/** True if a style hides an element and its content, whatever its color. */
export function isHiddenBy(style: StyleDeclarations): boolean {
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

/** True if it is moved out of the window, clipped, or scaled to nothing. */
function isAway(style: StyleDeclarations): boolean {
  const far = OFFSETS.some((property) => Number.parseFloat(style.get(property) ?? '0') < -500);
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

/** Returns the declared colors of an element as written; undefined: none. */
export function colorsOf(style: StyleDeclarations, { name, attributes }: HtmlTag): { text?: string; behind?: string } {
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

/** Keywords of `background` that are no colors. */
const BESIDE = /none|(?:no-)?repeat(?:-[xy])?|scroll|fixed/g;
/** Elements with color attributes. */
const COLORED: ReadonlySet<string> = new Set('body table thead tbody tfoot tr td th'.split(' '));
