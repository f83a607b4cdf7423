/** Elements whose content is not shown. */
const UNSEEN = ['style', 'script', 'head', 'title', 'template', 'noscript'];

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '\u00a9',
  reg: '\u00ae',
  trade: '\u2122',
  euro: '\u20ac',
  pound: '\u00a3',
  hellip: '\u2026',
  ndash: '\u2013',
  mdash: '\u2014',
  lsquo: '\u2018',
  rsquo: '\u2019',
  ldquo: '\u201c',
  rdquo: '\u201d',
  laquo: '\u00ab',
  raquo: '\u00bb',
  bull: '\u2022',
  middot: '\u00b7',
  auml: '\u00e4',
  ouml: '\u00f6',
  uuml: '\u00fc',
  Auml: '\u00c4',
  Ouml: '\u00d6',
  Uuml: '\u00dc',
  szlig: '\u00df',
  eacute: '\u00e9',
  egrave: '\u00e8',
  agrave: '\u00e0',
  ccedil: '\u00e7',
  shy: '',
  zwnj: '',
};

/** The words of an HTML text, about `enough` characters of them: for a preview, not for display. One pass, no tree. */
export function htmlText(html: string, enough: number): string {
  let out = '';
  let blank = true;
  for (let at = 0; at < html.length && out.length < enough;) {
    const open = html.indexOf('<', at);
    const end = open < 0 ? html.length : open;
    const tag = /[a-z/!?]/i.test(html[open + 1] ?? ''); // "a < b" has none
    const words = entities(html.slice(at, end)).replace(/\s+/g, ' ') + (open < 0 ? '' : tag ? ' ' : '<');
    // Tables are blanks between tags for pages on end.
    const seen: string = blank ? words.trimStart() : words;
    if (seen !== '') blank = seen.endsWith(' ');
    out += seen;
    at = open < 0 ? html.length : tag ? afterTag(html, open) : open + 1;
  }
  return out;
}

/** Character references as the characters that they stand for. */
export function entities(text: string): string {
  return text.replace(/&(#x?[0-9a-f]{1,6}|[a-z]{2,8});?/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return ENTITIES[name] ?? whole;
    const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1));
    return Number.isNaN(code) || code > 0x10ffff ? whole : String.fromCodePoint(code).toWellFormed();
  });
}

/** Where the text goes on behind the tag, comment or unseen element that begins at `open`. */
function afterTag(html: string, open: number): number {
  if (html.startsWith('<!--', open)) return past(html, '-->', open + 4);
  const name = /^[a-z]+/.exec(html.slice(open + 1, open + 12).toLowerCase())?.[0] ?? '';
  const close = past(html, '>', open + 1);
  return UNSEEN.includes(name) ? unseenEnd(html, name, close) : close;
}

function past(html: string, stop: string, from: number): number {
  const at = html.indexOf(stop, from);
  return at < 0 ? html.length : at + stop.length;
}

function unseenEnd(html: string, name: string, from: number): number {
  for (let at = html.indexOf('</', from); at >= 0; at = html.indexOf('</', at + 2)) {
    if (html.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return past(html, '>', at);
  }
  return html.length;
}
