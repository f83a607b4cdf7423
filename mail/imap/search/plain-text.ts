const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  euro: '\u20ac',
  szlig: '\u00df',
  aelig: '\u00e6',
  AElig: '\u00c6',
  oslash: '\u00f8',
  Oslash: '\u00d8',
  shy: '',
};

/** `&eacute;` is a letter and a mark. */
const MARKS: Readonly<Record<string, string>> = {
  grave: '\u0300',
  acute: '\u0301',
  circ: '\u0302',
  tilde: '\u0303',
  uml: '\u0308',
  ring: '\u030a',
  cedil: '\u0327',
};

/** The text of HTML for searching: tags are gone, blanks are one, entities are characters. Linear, no tree. */
export function plainText(html: string): string {
  const pieces: string[] = [];
  let at = 0;
  for (let open = html.indexOf('<'); open !== -1; open = html.indexOf('<', at)) {
    const close = html.indexOf('>', open);
    if (close === -1) break;
    pieces.push(html.slice(at, open));
    at = close + 1;
  }
  pieces.push(html.slice(at));
  // Tags join nothing and part nothing that a person sees joined: `wo<b>rd</b>` is a word, `<p>` stands at a line end.
  return pieces
    .join('')
    .replace(/\s\s+|[\t\r\n]/g, ' ')
    .replace(/&(#?\w{1,10});/g, entity);
}

function entity(whole: string, name: string): string {
  if (name.startsWith('#')) return codePoint(name.slice(1)) ?? whole;
  const mark = Object.hasOwn(MARKS, name.slice(1)) ? MARKS[name.slice(1)] : undefined;
  if (mark !== undefined) return `${name[0]}${mark}`.normalize('NFC');
  return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
}

function codePoint(digits: string): string | undefined {
  const code = /^x/i.test(digits) ? Number(`0${digits}`) : Number(digits);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : undefined;
}
