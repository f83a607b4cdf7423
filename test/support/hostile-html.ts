const fill = (unit: string, size: number): string => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
const numbered = (make: (n: number) => string, size: number): string => {
  const all: string[] = [];
  for (let n = 0, length = 0; length < size; n++) {
    const one = make(n);
    all.push(one);
    length += one.length;
  }
  return all.join('');
};
const sheet = (make: (n: number) => string, size: number): string => `<style>${numbered(make, size)}</style>`;

/** HTML designed to be slow to parse, of about the given size. */
export const HOSTILE_PAGES: readonly (readonly [name: string, page: (size: number) => string])[] = [
  ['tags without words', (size) => fill('<b>', size)],
  ['a word a tag', (size) => fill('a<b>', size)],
  ['elements inside each other', (size) => fill('<div>a', size / 2) + fill('</div>', size / 2)],
  ['closings of what is not open', (size) => fill('<div>', 5_000) + fill('</b>a', size - 5_000)],
  ['one line of many pieces', (size) => fill('a <i>', size)],
  ['blanks before many blocks', (size) => `<pre>${' '.repeat(size / 2)}${fill('<div>', size / 2)}`],
  ['quotes inside each other', (size) => fill('<blockquote>a', size)],
  [
    'ends that cross',
    (size) => fill(`${fill('<div>', 450)}${fill('<b>', 2_700)}${fill('</div>', 540)}${fill('</b>', 3_600)}`, size),
  ],
  ['ends of what is far around', (size) => `<p><table>${fill('<i>', 2_900)}${fill('</p>', size)}`],
  ['titles', (size) => fill('<title>a</title>', size)],
  ['links', (size) => numbered((n) => `<a href="//a.b/${n}">c.d</a>`, size)],
  ['links of one address', (size) => numbered((n) => `<a href="//a.b">c${n}.d</a>`, size)],
  ['addresses', (size) => numbered((n) => `http://a.b/${n} `, size)],
  ['pictures', (size) => fill('<img width=1>', size)],
  ['attributes', (size) => fill(`<p ${fill('a b=c ', 100)}>`, size)],
  ['values in quotes that stay open', (size) => fill('<a b="', size)],
  ['signs in a tag', (size) => `<a ${fill('"', size)}`],
  ['references', (size) => fill('&#65;', size)],
  ['hidden elements', (size) => fill('<p style="display:none">a</p>', size)],
  ['styles of their own', (size) => fill('<p style="color:#fff;background:#fff;font:1px/0 a">a', size)],
  [
    'many rules for many elements',
    (size) => sheet((n) => `p{color:#${100 + (n % 800)}}`, size / 2) + fill('<p>a', size / 2),
  ],
  ['rules for classes', (size) => `<style>${fill('.a,', 6_000)}.a{color:red}</style>${fill('<p class=a>a', size)}`],
  [
    'rules for what is inside',
    (size) => `${fill('<div>', 900)}<style>${fill('div div div p,', 20_000)}p{color:red}</style>${fill('<p>a', size)}`,
  ],
  [
    'rules for children of what is inside',
    (size) =>
      `${fill('<div>', 4_500)}<style>${fill('x>div div>div div>div div>div p,', 2_000)}p{color:red}</style>${fill('<p>a', size)}`,
  ],
  [
    'brackets that stay open',
    (size) => `<style>${fill('a{b:(', size / 2)}</style><p style="${fill('(;', size / 2)}">a`,
  ],
  [
    'rules for attributes',
    (size) => `<style>${fill('[b*=c],', 10_000)}p{color:red}</style>${fill(`<p b=${'x'.repeat(1_000)}>a`, size)}`,
  ],
  [
    'a long rule for many elements',
    (size) => `<style>p{color:${'a'.repeat(size / 3)}}</style>${fill('<p>a', size / 2)}`,
  ],
  [
    'a rule of many declarations',
    (size) => `<style>p{${numbered((n) => `a${n}:b;`, size / 2)}}</style>${fill('<p>a', size / 2)}`,
  ],
  [
    'an element of many classes',
    (size) => `${sheet((n) => `.c${n}{color:red}`, size / 3)}<p class="${numbered((n) => `c${n} `, size / 3)}">a`,
  ],
  ['sheets', (size) => fill('<style>a{b:c}</style>', size)],
  ['beginnings of sheets', (size) => fill('<style ', size)],
  ['notes in a sheet', (size) => `<style>${fill('/*', size)}</style>`],
  ['comments', (size) => fill('<!--a-->b', size)],
  ['angles', (size) => fill('< ', size)],
  ['signs of markdown', (size) => fill('](a [b]: ', size)],
  ['what nobody sees', (size) => fill('a\u200b', size)],
];
