import { type Tag, tagsOf } from './html-tags.ts';

const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
const UNREAD: ReadonlySet<string> = new Set(['script', 'style', 'title', 'template', 'noscript']);
/** Elements inside each other that are kept track of. */
const DEEPEST = 200;
/** `hidden`: by a style; `unread`: programs show it nowhere, as styles and scripts. */
export type Unseen = 'hidden' | 'unread' | undefined;

/** A run of text, character references and comments as they stand, or a tag; and whether a reader sees it. */
export type Piece = { kind: 'text'; text: string; unseen: Unseen } | { kind: 'tag'; tag: Tag; unseen: Unseen };

/** An HTML text piece by piece, with what the styles of the elements themselves hide. One pass, no tree. */
export function* walkHtml(html: string): Generator<Piece> {
  const open: { name: string; unseen: Unseen }[] = [];
  let at = 0;
  for (const tag of tagsOf(html)) {
    if (tag.start > at) yield { kind: 'text', text: html.slice(at, tag.start), unseen: open.at(-1)?.unseen };
    at = tag.end;
    const before = open.at(-1)?.unseen;
    if (tag.name.startsWith('/')) close(open, tag.name.slice(1));
    else if (!VOID.has(tag.name)) begin(open, tag);
    const own = VOID.has(tag.name) ? (before ?? unseenBy(tag)) : open.at(-1)?.unseen;
    yield { kind: 'tag', tag, unseen: tag.name.startsWith('/') ? before : own };
  }
  if (at < html.length) yield { kind: 'text', text: html.slice(at), unseen: open.at(-1)?.unseen };
}

function begin(open: { name: string; unseen: Unseen }[], tag: Tag): void {
  // Often left open: the next one closes them.
  const last = open.at(-1)?.name ?? '';
  if ((last === 'p' && BLOCKS.has(tag.name)) || (last === tag.name && UNCLOSED.has(last))) open.pop();
  if (open.length < DEEPEST) open.push({ name: tag.name, unseen: open.at(-1)?.unseen ?? unseenBy(tag) });
}

const UNCLOSED: ReadonlySet<string> = new Set(['li', 'td', 'tr']);
const BLOCKS: ReadonlySet<string> = new Set(['p', 'div', 'ul', 'ol', 'h1', 'h2', 'h3', 'h4', 'blockquote', 'pre']);

function close(open: { name: string }[], name: string): void {
  const at = open.findLastIndex((one) => one.name === name);
  if (at >= 0) open.length = at;
}

function unseenBy({ name, attributes }: Tag): Unseen {
  if (UNREAD.has(name)) return 'unread';
  const style = stylesOf(attributes.get('style') ?? '');
  return attributes.has('hidden') || hides(style) || sameColors(style, attributes) ? 'hidden' : undefined;
}

/** Declarations by property, lower case, without blanks; the last one of a property counts. */
function stylesOf(text: string): Map<string, string> {
  const plain = text.slice(0, 2000).toLowerCase().replace(/\s+/g, '').replaceAll('!important', '');
  return new Map(
    plain.split(';').map((one) => {
      const colon = one.indexOf(':');
      return [one.slice(0, Math.max(0, colon)), one.slice(colon + 1)];
    }),
  );
}

function hides(style: ReadonlyMap<string, string>): boolean {
  const is = (property: string, ...values: string[]): boolean => values.includes(style.get(property) ?? '-');
  return (
    is('display', 'none') ||
    is('visibility', 'hidden', 'collapse') ||
    is('mso-hide', 'all') ||
    is('max-height', '0', '0px') ||
    Number(style.get('opacity') ?? 1) < 0.1 ||
    isTiny(style.get('font-size') ?? '') ||
    isAway(style)
  );
}

const PLACES = ['left', 'right', 'top', 'bottom', 'margin-left', 'margin-top', 'text-indent'];

/** Put where no window reaches, or cut down to nothing. */
function isAway(style: ReadonlyMap<string, string>): boolean {
  const far = PLACES.some((property) => Number.parseFloat(style.get(property) ?? '0') < -500);
  return far || /^rect\((?:[01](?:px)?,?){4}\)$/.test(style.get('clip') ?? '');
}

function isTiny(size: string): boolean {
  const [, number = '', unit = ''] = /^(\d{0,4}(?:\.\d{1,6})?)([a-z%]{0,4})$/.exec(size) ?? [];
  if (number === '') return false;
  const pixels = Number(number) * ({ em: 16, rem: 16, '%': 0.16, pt: 1.33 }[unit] ?? 1);
  return pixels < 2;
}

/** Text in the color of what is behind it, where one element says both. */
function sameColors(style: ReadonlyMap<string, string>, attributes: ReadonlyMap<string, string>): boolean {
  const color = style.get('color') ?? attributes.get('color');
  const behind = style.get('background-color') ?? style.get('background') ?? attributes.get('bgcolor');
  return color !== undefined && behind !== undefined && plainColor(color) === plainColor(behind);
}

function plainColor(text: string): string {
  const color = text.toLowerCase();
  const named = { white: '#ffffff', black: '#000000' }[color] ?? color;
  return named.replace(/^#([0-9a-f])([0-9a-f])([0-9a-f])$/, '#$1$1$2$2$3$3');
}
