import { expect, test } from 'vitest';
import { formatAddress } from '../../../mail/message/address.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';
import { parseAuthors } from '../../../mail/message/authors.ts';

const ME = 'me@box.test';

/** The addresses of From, those of the other author fields behind "+", or "refused". */
function read(header: string): string {
  const found = parseAuthors(Buffer.from(header, 'latin1'));
  if (found.kind === 'refused') {
    expect(found.why).toMatch(/^The .+[^.]$/);
    return 'refused';
  }
  return [...found.from.map(formatAddress), ...found.others.map((address) => `+${formatAddress(address)}`)].join(' ');
}

const PLAIN: [header: string, authors: string][] = [
  ['From: me@box.test', ME],
  ['From: <me@box.test>', ME],
  ['From: Me <me@box.test>', ME],
  ['From: Me Q. Public <me@box.test>', ME],
  ['From: "Me, Jr. (the second): \\"x\\" <y>" <me@box.test>', ME],
  ['From: =?utf-8?Q?J=C3=B6rg?= <me@box.test>', ME],
  ['From: J\xc3\xb6rg <me@box.test>', ME],
  ['From: "me@box.test" <me@box.test>', ME],
  ['From: "ME@BOX.TEST" <me@box.test>', ME],
  ['From: Me\r\n <me@box.test>', ME],
  ['FROM:\tme@box.test  ', ME],
  ['From: me@BOX.test', ME],
  ['From: "me too"@box.test', '"me too"@box.test'],
  ['From: a@box.test, B <b@box.test>', 'a@box.test b@box.test'],
  ['From: me@box.test\r\nSender: Boss <boss@box.test>', `${ME} +boss@box.test`],
  ['Resent-From: a@b.test\r\nFrom: me@box.test\r\nResent-Sender: c@d.test', `${ME} +a@b.test +c@d.test`],
  ['From: "me @ box.test" <me@box.test>', ME],
  ['From: "\xef\xbd\x8d\xef\xbd\x85@box\xe3\x80\x82test" <me@box.test>', ME],
  ['From: "Me @ Box Inc." <me@box.test>', ME],
  ['From: "@me" <me@box.test>', ME],
  ['From: "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d" <me@box.test>', ME],
  ['From: me@B\xc3\x9cCHER.test', 'me@xn--bcher-kva.test'],
  ['From: me@\xce\x9f\xce\x94\xce\x9f\xce\xa3.test', 'me@xn--pxavbq.test'],
  ['From: me@b\xc3\xbccher.test', 'me@xn--bcher-kva.test'],
  ['From: me@[192.0.2.1]', 'me@[192.0.2.1]'],
  ['Subject: From: evil@x.test\r\nFrom: me@box.test', ME],
  ['From: me@box.test\r\n\r\nFrom: body@x.test\nbare line feed', ME],
  ['To: x@y.test', ''],
  ['', ''],
];

test.each(PLAIN)('%j', (header, authors) => {
  expect(read(`${header}\r\n`)).toBe(authors);
});

// "Composition Kills" (USENIX 2020), CVE-2025-13033, "splitting the atom".
const SEEN: [header: string, authors: string][] = [
  ['From: me@box.test\r\nFrom: evil@x.test', 'me@box.test evil@x.test'],
  ['From: me@box.test\r\nFrom : evil@x.test', 'me@box.test evil@x.test'],
  ['From: me@box.test\r\nFrom\t: evil@x.test', 'me@box.test evil@x.test'],
  ['From: me@box.test\r\nfROM: evil@x.test', 'me@box.test evil@x.test'],
  ['From: me@box.test\r\nFrom:\r\n evil@x.test', 'me@box.test evil@x.test'],
  ['From: me@box.test, evil@x.test', 'me@box.test evil@x.test'],
  ['From: me@box.test\r\n ,evil@x.test', 'me@box.test evil@x.test'],
  ['From: me@sub.box.test', 'me@sub.box.test'],
  ['From: me@box.test.evil', 'me@box.test.evil'],
  ['From: me@box.test\r\n \r\nFrom: evil@x.test', 'me@box.test evil@x.test'],
  ['From: me@box.test\r\nSender: evil@x.test', 'me@box.test +evil@x.test'],
  ['From: me@xn--box-qla.test', 'me@xn--box-qla.test'],
];

test.each(SEEN)('a foreign author is seen: %j', (header, authors) => {
  expect(read(`${header}\r\n`)).toBe(authors);
});

const REFUSED: string[] = [
  'From:',
  'From: ,',
  'From: <>',
  'From: me',
  'From: me@',
  'From: @box.test',
  'From: me@box.test.',
  'From: me@box.test,',
  'From: ,me@box.test',
  'From: me@box.test@x.test',
  'From: evil@x.test <me@box.test>',
  'From: <me@box.test> <evil@x.test>',
  'From: <<me@box.test>>',
  'From: <me@box.test> evil@x.test',
  'From: <me@box.test>evil@x.test',
  'From: <me@box.test',
  'From: me@box.test>',
  'From: me@box.test (comment)',
  'From: (comment) me@box.test',
  'From: me(comment)@box.test',
  'From: me@box.test(evil@x.test)',
  'From: user@example.com(x)evil.com',
  'From: Group: me@box.test;',
  'From: Group:;',
  'From: a;b@x:',
  'From: <@evil.test,@x.test:me@box.test>',
  'From: <me@box.test,evil@x.test>',
  'From: "evil@x.test" <me@box.test>',
  'From: "evil@x.test via" <me@box.test>',
  'From: "<evil@x.test>" <me@box.test>',
  'From: =?utf-8?Q?evil=40x.test?= <me@box.test>',
  'From: =?utf-8?B?ZXZpbEB4LnRlc3Q=?= <me@box.test>',
  'From: "evil\xef\xbc\xa0x.test" <me@box.test>',
  'From: "evil@x\xe3\x80\x82test" <me@box.test>',
  'From: "evil@x\xef\xbd\xa1test" <me@box.test>',
  'From: "\xe2\x80\xaetset.x@live" <me@box.test>',
  'From: =?utf-8?B?4oCudHNldC54QGxpdmU=?= <me@box.test>',
  'From: "evil @ x.test" <me@box.test>',
  'From: evil =?utf-8?q?=40?= x.test <me@box.test>',
  'From: "evil@x .test" <me@box.test>',
  'From: "evil@x . test" <me@box.test>',
  'From: "evil\xe2\x80\x8b@x\xef\xbb\xbf.\xef\xbb\xbftest" <me@box.test>',
  'From: =?utf-8?q?=3D=3Futf-8=3Fq=3Fevil=3D40x=2Etest=3F=3D?= <me@box.test>',
  'From: "=\\?utf-8\\?q\\?evil=40x.test?=" <me@box.test>',
  'From: "\xef\xbd\x85vil@\xef\xbd\x98.test" <me@box.test>',
  'From: me@b\xef\xbd\x8fx.test',
  'From: me@bo\xc2\xadx.test',
  'From: me@b\xe2\x93\x9ex.test',
  'From: me@bo\xe2\x80\x8bx.test',
  'From: =?utf-8?q?a=40evil=3e=20?=@box.test',
  'From: =?utf-8?Q?me=40box.test?=',
  'From: <=?utf-8?Q?me?=@box.test>',
  'From: "xclow3n@gmail.com x"@internal.domain <me@box.test>',
  'From: "me@box.test',
  'From: me\\@box.test',
  'From: me @box.test',
  'From: me@ box.test',
  'From: me@box .test',
  'From: me@box\xef\xbc\x8etest',
  'From: me\xc5\x80box.test',
  'From: me@box.test\xff',
  'From: me@box.test\x00',
  'From: me@box.test\x1b',
  'From: me@box.test\xc2\x85',
  'From: me@box.test\xe2\x80\xa8',
  'From: me@box.test\nFrom: evil@x.test',
  'From: me@box.test\rFrom: evil@x.test',
  'Subject: x\nFrom: evil@x.test\r\nFrom: me@box.test',
  'Subject: x\rFrom: evil@x.test\r\nFrom: me@box.test',
  'Subject: x\0\r\nFrom: me@box.test',
  ' From: evil@x.test\r\nFrom: me@box.test',
  'From evil@x.test\r\nFrom: me@box.test',
  'Fr\0om: evil@x.test\r\nFrom: me@box.test',
  'From\x0b: evil@x.test\r\nFrom: me@box.test',
  'From\xa0: evil@x.test\r\nFrom: me@box.test',
  '\xef\xbb\xbfFrom: evil@x.test\r\nFrom: me@box.test',
  'Fr\r\n om: evil@x.test\r\nFrom: me@box.test',
  ': evil@x.test\r\nFrom: me@box.test',
  'From: me@box.test\r\nSender: evil',
  'From: me@box.test\r\nResent-From: Group: a@b.test;',
  `From: ${'"'.repeat(9000)}`,
  `From: ${'a@b.test,'.repeat(200)}c@d.test`,
];

test.each(REFUSED)('refused: %j', (header) => {
  expect(read(`${header}\r\n`)).toBe('refused');
});

test.each(['@', 'a@', '@ ', '. ', '=?utf-8?q?=3D?=', '\u3002'])(
  'a display name of %j is read in proportion to its length',
  async (piece) => {
    const read = (size: number) => {
      const name = piece.repeat(size / Buffer.byteLength(piece));
      parseAuthors(Buffer.from(`From: "${name}" <me@box.test>\r\n`.repeat(30)));
    };
    expect(await growth(read, 8000)).toBeLessThan(PROPORTIONAL);
  },
);

test('fields are counted', () => {
  const found = parseAuthors(Buffer.from('From: a@b.test\r\nFrom: a@b.test\r\n\r\n'));
  expect(found).toMatchObject({ kind: 'authors', fromFields: 2 });
});
