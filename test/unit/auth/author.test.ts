import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../../mail/message/address.ts';
import { readFields } from '../../../mail/message/header.ts';
import { readAuthor } from '../../../mail/auth/author.ts';

function authorOf(header: string): string {
  const author = readAuthor(readFields(header), header);
  return author.kind === 'author' ? formatAddress(author.address) : `${author.kind}: ${author.why}`;
}

const of = (value: string): string => authorOf(`From:${value}\r\nTo: you@x.example\r\n\r\n`);

describe('one author', () => {
  test.each([
    ' me@box.test',
    'me@box.test',
    ' <me@box.test>',
    ' Me <me@box.test>',
    ' "Me, myself" <me@box.test>',
    ' "a \\" b" <me@box.test>',
    ' me@box.test (Me)',
    ' (Me) me@box.test',
    ' Me (I) <me@box.test> (myself)',
    ' me@box.test <me@box.test>',
    ' ME@Box.Test <me@box.test>',
    ' Me\r\n <me@box.test>\r\n ',
    ' =?utf-8?q?M=C3=A9_=3Cx=40y=2Eexample=3E?= <me@box.test>',
    ' M\xc3\xa9 <me@box.test>',
    ' M\xe9 <me@box.test>',
    ' Me @ work <me@box.test>',
    ' me@BOX.test',
  ])('%j', (value) => {
    expect(of(value).toLowerCase()).toBe('me@box.test');
  });

  test('of a domain with letters beyond ASCII', () => {
    expect(of(' <me@b\xc3\xbccher.example>')).toBe('me@xn--bcher-kva.example');
  });
});

describe('no one author', () => {
  test.each([
    ['', 'none: no address in From'],
    ['  ', 'none: no address in From'],
    [' me@box.test, you@box.test', 'none: several addresses in From'],
    [' <me@box.test> <you@box.test>', 'none: several addresses in From'],
    [' <me@box.test>,', 'none: several addresses in From'],
    [' us: me@box.test;', 'none: a group in From'],
    [' undisclosed:;', 'none: a group in From'],
    [' you@x.example <me@box.test>', 'none: two addresses in From'],
    [' <me@box.test> you', 'none: text behind the address in From'],
    [' "me <me@box.test>', 'none: a quote in From that is not closed'],
    [' (me <me@box.test>', 'none: a comment in From that is not closed'],
    [' <me@box.test', 'none: an angle bracket in From that is not closed'],
    [' me@box.test>', 'none: a From field that cannot be read'],
    [' =?utf-8?q?me?=@box.test', 'none: an encoded word for an address in From'],
    [' me@box.test\x01', 'none: a From field with control characters'],
    [' <<me@box.test>>', 'none: an address in From that cannot be read'],
    [' me@box(x).test', 'none: a comment inside of an address in From'],
    [' me@box..test', 'none: no address in From that can be read'],
    [` ${'x'.repeat(9000)}@box.test`, 'none: a From field that is too long'],
    [' <>', 'nobody: no domain in From'],
    [' Mail Delivery Subsystem <MAILER-DAEMON>', 'nobody: no domain in From'],
    [' MAILER-DAEMON (Mail Delivery System)', 'nobody: no domain in From'],
    [' "Microsoft Outlook" <>', 'nobody: no domain in From'],
    [' =?utf-8?q?Syst=C3=A8me_de_messagerie?= <postmaster>', 'nobody: no domain in From'],
    [' Postmaster', 'nobody: no domain in From'],
    [' "ceo@bank.example" <>', 'none: an address in From that is only a name'],
    [' ceo@bank.example <>', 'none: an address in From that is only a name'],
    [' "ceo@bank.example" <MAILER-DAEMON>', 'none: an address in From that is only a name'],
    [' (ceo@bank.example) <>', 'none: an address in From that is only a name'],
    [' MAILER-DAEMON (ceo@bank.example)', 'none: an address in From that is only a name'],
    [' =?utf-8?q?ceo=40bank=2Eexample?= <>', 'none: an address in From that is only a name'],
    [' "=?utf-8?b?Y2VvQGJhbmsuZXhhbXBsZQ==?=" <>', 'none: an address in From that is only a name'],
    [' =?utf-8?q?=3D=3Futf-8=3Fq=3Fceo=3D40bank=2Eexample=3F=3D?= <>', 'none: an address in From that is only a name'],
    [' "ceo\xef\xbc\xa0bank.example" <>', 'none: an address in From that is only a name'],
  ])('%j', (value, expected) => {
    expect(of(value)).toBe(expected);
  });

  test('a line that one reader skips and another takes for From', () => {
    expect(authorOf(' From: you@x.example\r\nFrom: me@box.test\r\n')).toMatch(/^none: a line/);
    expect(authorOf('Fr\x0bom: you@x.example\r\nFrom: me@box.test\r\n')).toMatch(/^none: a line/);
    expect(authorOf('From joe Sat Nov 21 10:00\r\nFrom: me@box.test\r\n')).toBe('me@box.test');
    expect(authorOf('From: me@box.test\r\nFROM: me@box.test\r\n')).toMatch(/^none: more than one/);
    expect(authorOf('To: you@x.example\r\n')).toMatch(/^none: no From/);
  });
});
