import { entities } from '../../message/html-text.ts';
import type { Finding } from '../finding.ts';
import { countLetters } from '../letters.ts';
import { type Tag, tagsOf } from '../html-tags.ts';
import type { Sample } from '../sample.ts';

const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
const UNREAD: ReadonlySet<string> = new Set(['script', 'style', 'title', 'template', 'noscript']);
/** Elements inside each other that are kept track of. */
const DEEPEST = 200;
/** Letters. Newsletters hide a line or two that lists of messages show as preview. */
const SOME = 400;
const MUCH = 2000;

/** Text for filters and not for people: hidden by styles, in amounts that no preview needs. */
export function hiddenText({ html }: Sample): readonly Finding[] {
  if (html === '') return [];
  const { hidden, shown } = amounts(html);
  const share = hidden / Math.max(1, hidden + shown);
  if (hidden < SOME || share < 0.3) return [];
  const score = hidden >= MUCH && share >= 0.5 ? 2.5 : 1.5;
  return [{ rule: 'hidden-text', score, why: `${Math.round(share * 100)} % of its text is hidden from who reads it` }];
}

type Unseen = 'hidden' | 'unread' | undefined;

/** Letters that a reader does not see, and that one sees, as far as the styles of the elements themselves say. */
export function amounts(html: string): { hidden: number; shown: number } {
  const count = { hidden: 0, shown: 0 };
  const open: { name: string; unseen: Unseen }[] = [];
  let at = 0;
  for (const tag of tagsOf(html)) {
    const unseen = open.at(-1)?.unseen;
    tally(count, unseen, html.slice(at, tag.start));
    at = tag.end;
    if (tag.name.startsWith('/')) close(open, tag.name.slice(1));
    else if (!VOID.has(tag.name)) begin(open, tag);
  }
  tally(count, open.at(-1)?.unseen, html.slice(at));
  return count;
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

function tally(count: { hidden: number; shown: number }, unseen: Unseen, text: string): void {
  if (unseen === 'unread') return;
  count[unseen ?? 'shown'] += countLetters(text.includes('&') ? entities(text) : text);
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
    Number.parseFloat(style.get('text-indent') ?? '0') < -500
  );
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
