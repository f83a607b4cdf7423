/** Where mail may go, and where somebody wants it to go. */
export const GOOD = 'good.example';
export const EVIL = 'evil.example';

/** Texts that one reader takes for an address at the one domain and another for one at the other. */
const TRICKS: readonly string[] = [
  'a@G',
  '"x@E"@G',
  '"x@E x"@G',
  '"x\\"@E"@G',
  '"x@E\\""@G',
  '"a@E,"@G',
  '"<a@E>"@G',
  "a'@E'@G",
  'a@G(x)E',
  'a@G(@E)',
  'a(@E)@G',
  '(a@E)a@G',
  'a@E(\n)@G',
  'a@G.(x)E',
  'a;b@E:@G',
  'g:a@E;,b@G',
  'g:a@E;@G',
  ':a@E@G',
  '@E:a@G',
  '@E,@x:a@G',
  'a@E@G',
  'a%E@G',
  'E!a@G',
  'a@E,@G',
  'a@E;@G',
  'a@E b@G',
  'a@E>b@G',
  'a@E><b@G',
  '<a@E>b@G',
  'a <b@E> c@G',
  '=?utf-8?q?a=40E=3e=20?=@G',
  '=?utf-8?q?a?=@G',
  '=?utf-8?b?YUBldmlsLmV4YW1wbGU=?=@G',
  '=?utf-8?q?a?=@E@G',
  'a@=?utf-8?q?E?=',
  'a@G=?utf-8?q?,?=b@E',
  'a@G\n@E',
  'a@G\r\nRCPT TO:<b@E>',
  'a\r\nTo: b@E@G',
  'a@G\0.E',
  'a\0@E@G',
  'a@G\t@E',
  'a\u0140E@G',
  'aŀE@G',
  'a＠E@G',
  'a@G。E',
  'a@G．E',
  'a@G\u2028@E',
  'a@G\u200b.E',
  'a@G%00@E',
  'a@G/E',
  'a@G?E',
  'a@G#E',
  'a@G:25@E',
  'a@[G]@E',
  'a@[IPv6:::1]@G',
  'a\\@E@G',
  'a"b@E"@G',
  '"a"@E"@G',
  'a..b@E@G',
];
const ENVIRONMENT: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `<${text}>`,
  (text) => `Name <${text}>`,
  (text) => `"a@${EVIL}" <${text}>`,
  (text) => `${text} (b@${EVIL})`,
];

/** 300 of them, with either domain in the place of the other half. */
export const ADDRESSES: readonly string[] = TRICKS.flatMap((trick, at) =>
  ENVIRONMENT.map((around) => {
    const [g, e] = at % 2 === 0 ? [GOOD, EVIL] : [EVIL, GOOD];
    return around(trick.replaceAll('G', g).replaceAll('E', e));
  }),
);
