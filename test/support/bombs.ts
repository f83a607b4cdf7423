/** Approximate size of each message in octets, which the listeners accept. */
const SIZE = 25_000_000;
const FROM = 'From: bomb@far.example\r\n';

export interface Bomb {
  name: string;
  make: () => Buffer;
}

/** Messages that are made to be hard to read, each of 25 MB, in lines that SMTP takes where it takes them at all. */
export const BOMBS: readonly Bomb[] = [
  { name: 'multiparts nested 10,000 deep', make: () => nested(10_000) },
  filled('empty parts', `${FROM}Content-Type: multipart/mixed; boundary=b\r\n\r\n`, '--b\r\n\r\n'),
  filled(
    'multiparts of one boundary',
    `${FROM}Content-Type: multipart/mixed; boundary=b\r\n\r\n`,
    '--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n',
  ),
  filled('messages in messages', FROM, 'Content-Type: message/rfc822\r\n\r\n'),
  filled('addresses', `${FROM}To: x@y`, ',\r\n a@b.example'),
  filled('groups and comments', `${FROM}To: `, 'g:(a)(b)"c" <d@e>;\r\n '),
  filled('references', `${FROM}References:`, '\r\n <abcdef@example.org>'),
  filled('one folded field', `${FROM}Subject: x`, '\r\n x'),
  filled('one field without a fold', `${FROM}Subject: `, 'x'),
  filled('one line', `${FROM}Content-Type: multipart/mixed; boundary=b\r\n\r\n--`, 'b'),
  filled('fields', FROM, 'a:\r\n'),
  filled('lines that are no fields', FROM, 'a\r\n'),
  filled('continuations', `${FROM}Content-Type: text/plain`, (i) => `;\r\n name*${i}=x`),
  filled('encoded words', `${FROM}Subject:`, '\r\n =?utf-8?Q?=C3=BC?='),
  filled('encoded words that never end', `${FROM}Subject:`, '\r\n =?utf-8?B?=?=?'),
  filled('open comments', `${FROM}To: x`, '\r\n ((((((((('),
  filled('open quotes', `${FROM}To: x`, '\r\n "\\"\\"\\"'),
  filled('escapes of ISO-2022-JP', `${FROM}Content-Type: text/plain; charset=iso-2022-jp\r\n\r\n`, '\x1b$B\x1b(B\r\n'),
  filled('shifts of UTF-7', `${FROM}Content-Type: text/plain; charset=utf-7\r\n\r\n`, '+AOQ-+-\r\n'),
  filled('open tags', `${FROM}Content-Type: text/html\r\n\r\n`, '<a <style></\r\n'),
  filled('open comments of HTML', `${FROM}Content-Type: text/html\r\n\r\n`, '<!-- <p>&#x41;\r\n'),
  filled(
    'soft line ends',
    `${FROM}Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n`,
    '= = =\r\n',
  ),
  filled('padding', `${FROM}Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n`, 'YQ==YQ==\r\n'),
  filled('parts with long names', `${FROM}Content-Type: multipart/mixed; boundary=b\r\n\r\n`, longName()),
];

/** `head`, then the piece as often as it fits. */
function filled(name: string, head: string, piece: string | ((i: number) => string)): Bomb {
  return {
    name,
    make: () => {
      if (typeof piece === 'string') {
        const times = Math.floor((SIZE - head.length) / piece.length);
        return Buffer.concat([octets(head), Buffer.alloc(times * piece.length, piece, 'latin1'), octets('\r\n')]);
      }
      const pieces = [head];
      for (let i = 0, size = head.length; size < SIZE; i++) size += pieces[pieces.push(piece(i)) - 1]?.length ?? 0;
      return octets(`${pieces.join('')}\r\n`);
    },
  };
}

function nested(levels: number): Buffer {
  const opened = Array.from(
    { length: levels },
    (_, i) => `--b${i}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`,
  ).join('');
  const head = octets(`${FROM}Content-Type: multipart/mixed; boundary=b0\r\n\r\n${opened}`);
  return Buffer.concat([head, Buffer.alloc(SIZE - head.length, '--b1\r\n'), octets('\r\n')]);
}

function longName(): string {
  return `--b\r\nContent-Type: a/b; name="${'\xfc'.repeat(20_000)}"\r\n\r\n`;
}

function octets(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
