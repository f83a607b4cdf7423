import { describe, expect, test } from 'vitest';
import { decodedParameter, parseParameters } from '../../../mail/message/parameters.ts';

const TABLE: [field: string, value: string, params: [string, string][]][] = [
  ['text/plain', 'text/plain', []],
  ['text/plain; charset=utf-8', 'text/plain', [['charset', 'utf-8']]],
  [
    'text/plain;CHARSET="utf-8" ; Format = flowed',
    'text/plain',
    [
      ['charset', 'utf-8'],
      ['format', 'flowed'],
    ],
  ],
  ['a; b="c\\"d\\\\e"', 'a', [['b', 'c"d\\e']]],
  [
    'a; b="c;d=e"; f=g',
    'a',
    [
      ['b', 'c;d=e'],
      ['f', 'g'],
    ],
  ],
  ['a; b="open; c=d', 'a', [['b', 'open; c=d']]],
  [
    'a (comment) ; b=c (why; (nested)) ; d=e',
    'a',
    [
      ['b', 'c'],
      ['d', 'e'],
    ],
  ],
  [
    'a; b=x y z.pdf; c=d',
    'a',
    [
      ['b', 'x y z.pdf'],
      ['c', 'd'],
    ],
  ],
  ['a; b=x(1).pdf', 'a', [['b', 'x(1).pdf']]],
  [
    'a; b; c=; =d;; ;e=f',
    'a',
    [
      ['c', ''],
      ['e', 'f'],
    ],
  ],
  [
    'a; b="c"junk; d=e',
    'a',
    [
      ['b', 'c'],
      ['d', 'e'],
    ],
  ],
  ['a;\r\n\tb=c', 'a', [['b', 'c']]],
  ['; b=c', '', [['b', 'c']]],
  ['', '', []],
  ['a; b=(c', 'a', [['b', '']]],
];

test.each(TABLE)('%j', (field, value, params) => {
  expect(parseParameters(field)).toEqual({ value, params });
});

describe('names for people', () => {
  test.each([
    ['n=a.txt', 'a.txt'],
    ["n*=utf-8''gr%C3%BCn", 'grün'],
    ["n*=iso-8859-1'en'gr%FCn", 'grün'],
    ['n*=gr%FCn', 'grün'],
    ["n*=utf-8''a%", 'a%'],
    ['n*0=a; n*1=b; n*2=c', 'abc'],
    ['n*2=c; n*0=a; n*1=b', 'abc'],
    ["n*0*=utf-8''%C3; n*1*=%BC; n*2=%41", 'ü%41'],
    ['n*0=a; n*2=c', 'a'],
    ['n*1=b', ''],
    ["n=plain; n*=utf-8''better", 'better'],
    ['n="=?utf-8?Q?gr=C3=BCn?="', 'grün'],
    ['n="gr\xc3\xbcn"', 'grün'],
    ['n="gr\xfcn"', 'grün'],
    ['x=y', ''],
  ])('%j is %j', (params, expected) => {
    expect(decodedParameter(parseParameters(`a; ${params}`).params, 'n')).toBe(expected);
  });
});
