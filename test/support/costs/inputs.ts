import { Random } from '../random.ts';

/** A hostile text of any size. */
export interface HostileInput {
  name: string;
  make: (size: number) => string;
}

/** Signs, unmatched ends and beginnings of constructs. */
const SIGNS = Array.from('()"\\ <>@;,:=[]{}&*/.-+%\'a0\t\n\r_|#$^~`!?\0');
const BEGINNINGS = [
  ['=?', '?=', '\r\n', '\r\n ', 'a\r\n', 'a:\r\n', '\xff', '\xff ', '[a]', '<!--', '</', '&#', '--', 'a ', 'a.', 'a@'],
  [
    '\r\n--b\r\n',
    '=?utf-8?Q?a?= ',
    '=?utf-8?B?',
    '[fwd:',
    're:',
    '(fwd)',
    '<a@b',
    '<a@b.c>, ',
    "n*0*='",
    ';n=',
    'a=b;',
  ],
  ['("\\', '<@,(;', '=?"\\;', ' x', '{1}\r\n', '\\\\"', '{"a":[', '{},', '[[', '%0d', '%{', '5.1.1 ', '\x1b$B', '12, '],
  ['<a ', '<p>', '<style>', '<a href="', '<![CDATA[', 'http://', 'http://a.b/ ', 'www.', '![', '[a](b)', '> ', '>a\n'],
  [
    '=3D',
    '=\n',
    '+AAA-',
    '/a',
    '~1',
    '1,',
    '1:',
    'PK\x03\x04',
    'stream\n',
    '&amp',
    '-----',
    'xn--',
    'aaaa-',
    '123456 ',
  ],
  ['DKIM-Signature: v=1; d=a.b; s=c; b=d\r\n', 'ARC-Seal: i=1; cv=none; d=a.b; s=c; b=d\r\n', 'BEGIN:VEVENT\n'],
].flat();
/** Characters that folding, normalization and display names treat in their own way. */
const LETTERS = [
  '\u00df',
  '\u0130',
  '\u0301',
  '\u0430',
  '\u200b',
  '\u202e',
  '\u2039',
  '\u3002',
  '\uff21',
  '\ud800',
  '\u{1f600}',
];
/** Many small items, all different: a comparison of each with each would show. */
const ITEMS: readonly ((n: number) => string)[] = [
  (n) => `a${n} `,
  (n) => `a${n},`,
  (n) => `a${n}: b\r\n`,
  (n) => `;a${n}=b`,
  (n) => `<a${n}@b.c>, `,
  (n) => `"k${n}":1,`,
  (n) => `<p class=c${n} id=i${n}>a`,
  (n) => `http://a${n}.b/ `,
  (n) => `--b${n}\r\n`,
  (n) => `${2 * n},`,
];
/** Nesting that is closed again. */
const PAIRS = [
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['<', '>'],
  ['{"a":', '}'],
  ['<b>', '</b>'],
  ['<div>a', '</div>'],
] as const;
/** Behind a run of anything: with it an expression that wants an end has to try all over. */
const TAIL = '\r\x01!';

const quoted = (text: string): string => JSON.stringify(text);

/** Repeats a unit up to a size. */
export function repeated(unit: string, tail = ''): HostileInput {
  return {
    name: quoted(unit) + (tail === '' ? '' : ' and an end'),
    make: (size) => unit.repeat(Math.ceil(size / unit.length)) + tail,
  };
}

/** Joins items that are all different up to a size. */
export function numbered(item: (n: number) => string): HostileInput {
  const make = (size: number): string => {
    const all: string[] = [];
    for (let n = 0, length = 0; length < size; n++) length += all[all.push(item(n)) - 1]?.length ?? size;
    return all.join('');
  };
  return { name: `numbered ${quoted(item(0))}`, make };
}

function nested([open, close]: readonly [string, string]): HostileInput {
  const depth = (size: number): number => Math.ceil(size / (open.length + close.length));
  return {
    name: `nested ${quoted(open + close)}`,
    make: (size) => open.repeat(depth(size)) + close.repeat(depth(size)),
  };
}

/** Mixes all units, the same for the same size. */
function mixed(): HostileInput {
  const units = [...SIGNS, ...BEGINNINGS];
  const make = (size: number): string => {
    const random = new Random(17);
    const all: string[] = [];
    for (let length = 0; length < size;) length += all[all.push(random.one(units)) - 1]?.length ?? size;
    return all.join('');
  };
  return { name: 'all units mixed', make };
}

/** Texts that every function is driven with. */
export const HOSTILE_INPUTS: readonly HostileInput[] = [
  ...[...SIGNS, ...BEGINNINGS, ...LETTERS].map((unit) => repeated(unit)),
  ...[...SIGNS, ...BEGINNINGS].filter((unit) => unit.length < 3).map((unit) => repeated(unit, TAIL)),
  ...ITEMS.map(numbered),
  ...PAIRS.map(nested),
  mixed(),
];
