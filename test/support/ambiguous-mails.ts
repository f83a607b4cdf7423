/** A message that readers are known to take apart in different ways. */
export interface Ambiguous {
  name: string;
  bytes: Buffer;
}

const PLAIN = 'Content-Type: text/plain\r\n\r\nplain words\r\n';
const HTML = 'Content-Type: text/html\r\n\r\n<p>marked words</p>\r\n';
const FILE = 'Content-Type: application/octet-stream; name=a.exe\r\nContent-Disposition: attachment\r\n\r\nTVqQ\r\n';
const MIXED = 'Content-Type: multipart/mixed; boundary=b\r\n';
/** Two parts and their end. */
const BODY = `--b\r\n${PLAIN}--b\r\n${FILE}--b--\r\n`;

/** Headers that describe the body in more than one way. */
const HEADERS: readonly [name: string, header: string][] = [
  ['two types', `Content-Type: text/plain\r\n${MIXED}`],
  ['two types, the other way round', `${MIXED}Content-Type: text/plain\r\n`],
  ['two boundaries', 'Content-Type: multipart/mixed; boundary=b; boundary=c\r\n'],
  ['two boundaries, the other first', 'Content-Type: multipart/mixed; boundary=c; boundary=b\r\n'],
  ['a boundary of RFC 2231', 'Content-Type: multipart/mixed; boundary*0=b; boundary*1=""\r\n'],
  ['a boundary of RFC 2231 and one without', "Content-Type: multipart/mixed; boundary=c; boundary*=us-ascii''b\r\n"],
  ['an encoded boundary', 'Content-Type: multipart/mixed; boundary="=?us-ascii?q?b?="\r\n'],
  ['a boundary with blanks', 'Content-Type: multipart/mixed; boundary="b  "\r\n'],
  ['a boundary in half a quote', 'Content-Type: multipart/mixed; boundary="b\r\n'],
  ['a boundary behind a comment', 'Content-Type: multipart/mixed (boundary=c); boundary=b\r\n'],
  ['a boundary with a comment behind', 'Content-Type: multipart/mixed; boundary=b (c)\r\n'],
  ['a boundary with two equals signs', 'Content-Type: multipart/mixed; boundary==b\r\n'],
  ['no boundary', 'Content-Type: multipart/mixed\r\n'],
  ['an empty boundary', 'Content-Type: multipart/mixed; boundary=""\r\n'],
  ['a semicolon too much', 'Content-Type: multipart/mixed;; boundary=b\r\n'],
  ['a comma for a semicolon', 'Content-Type: multipart/mixed, boundary=b\r\n'],
  ['a type with a blank', 'Content-Type: multipart / mixed; boundary=b\r\n'],
  ['a type without a subtype', 'Content-Type: multipart; boundary=b\r\n'],
  ['a type that nobody knows', 'Content-Type: multipart/xyz; boundary=b\r\n'],
  ['a blank before the colon', 'Content-Type : multipart/mixed; boundary=b\r\n'],
  ['a NUL in the name', 'Content-\0Type: multipart/mixed; boundary=b\r\n'],
  ['an underscore in the name', 'Content_Type: multipart/mixed; boundary=b\r\n'],
  ['a fold before the value', 'Content-Type:\r\n multipart/mixed;\r\n\tboundary=b\r\n'],
  ['a fold of nothing', 'Content-Type: multipart/mixed;\r\n \r\n boundary=b\r\n'],
  ['a fold without a blank', 'Content-Type: multipart/mixed;\r\nboundary=b\r\n'],
  ['a line end that is bare', 'Content-Type: multipart/mixed;\n boundary=b\n'],
  ['a carriage return that is bare', 'Content-Type: multipart/mixed;\r boundary=b\r\n'],
  ['base64 around a multipart', `${MIXED}Content-Transfer-Encoding: base64\r\n`],
  ['two encodings', `${MIXED}Content-Transfer-Encoding: 7bit\r\nContent-Transfer-Encoding: base64\r\n`],
  ['a mail in a multipart that says it is digest', 'Content-Type: multipart/digest; boundary=b\r\n'],
];

/** Bodies in which the begin or the end of a part is ambiguous. */
const BODIES: readonly [name: string, body: string][] = [
  ['a preamble like a part', `Content-Type: text/html\r\n\r\n<b>x</b>\r\n${BODY}`],
  ['an epilogue like a part', `${BODY}--b\r\n${HTML}--b--\r\n`],
  ['no end', `--b\r\n${PLAIN}--b\r\n${FILE}`],
  ['an end at once', `--b--\r\n${BODY}`],
  ['blanks behind a boundary', `--b \t\r\n${PLAIN}--b--  \r\n`],
  ['letters behind a boundary', `--bc\r\n${PLAIN}--b\r\n${FILE}--b--\r\n`],
  ['letters behind an end', `--b\r\n${PLAIN}--b--c\r\n${FILE}--b--\r\n`],
  ['blanks before a boundary', `--b\r\n${PLAIN} --b\r\n${FILE}--b--\r\n`],
  ['a boundary in the middle of a line', `--b\r\n${PLAIN}x--b\r\n${FILE}--b--\r\n`],
  ['three dashes', `---b\r\n${PLAIN}--b\r\n${FILE}--b--\r\n`],
  ['bare line feeds around a boundary', `--b\n${PLAIN.replaceAll('\r', '')}--b\n${FILE}--b--\r\n`],
  ['a bare carriage return before a boundary', `--b\r\n${PLAIN}\r--b\r\n${FILE}--b--\r\n`],
  ['a part without a header', '--b\r\n\r\nwords\r\n--b--\r\n'],
  ['a part without an empty line', '--b\r\nContent-Type: text/html\r\n--b--\r\n'],
  ['a header that begins with a fold', `--b\r\n Content-Type: text/html\r\n\r\nwords\r\n--b--\r\n`],
  ['two types of a part', `--b\r\nContent-Type: text/html\r\n${PLAIN}--b--\r\n`],
  [
    'two encodings of a part',
    `--b\r\nContent-Transfer-Encoding: base64\r\nContent-Transfer-Encoding: 7bit\r\n${PLAIN}--b--\r\n`,
  ],
  ['an encoding that nobody knows', `--b\r\nContent-Transfer-Encoding: base-64\r\n${FILE}--b--\r\n`],
  ['an encoding with a comment', `--b\r\nContent-Transfer-Encoding: base64 (x)\r\n${FILE}--b--\r\n`],
  [
    'base64 that goes on behind its end',
    '--b\r\nContent-Transfer-Encoding: base64\r\n\r\nd29yZHM=\r\nbW9yZQ==\r\n--b--\r\n',
  ],
  ['base64 with foreign letters', '--b\r\nContent-Transfer-Encoding: base64\r\n\r\nd2*9y!ZH M\r\n--b--\r\n'],
  ['quoted-printable that is broken', '--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=4=41=\r\n--b--\r\n'],
  ['uuencode in a text', '--b\r\n\r\nbegin 644 a.exe\r\n#0V%T\r\n`\r\nend\r\n--b--\r\n'],
  [
    'a boundary in an attached message',
    `--b\r\nContent-Type: message/rfc822\r\n\r\n${MIXED}\r\n--b\r\n${FILE}--b--\r\n`,
  ],
  [
    'an attached message that is encoded',
    `--b\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(PLAIN).toString('base64')}\r\n--b--\r\n`,
  ],
  ['a multipart inside of the same boundary', `--b\r\n${MIXED}\r\n--b\r\n${PLAIN}--b--\r\n--b\r\n${HTML}--b--\r\n`],
  [
    'an outer end inside',
    `--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n${PLAIN}--b\r\n${FILE}--c--\r\n--b--\r\n`,
  ],
  [
    'names in two places',
    `--b\r\nContent-Type: a/b; name=a.txt\r\nContent-Disposition: attachment; filename=a.exe\r\n\r\nx\r\n--b--\r\n`,
  ],
  [
    'names in two ways',
    "--b\r\nContent-Disposition: attachment; filename=a.txt; filename*=utf-8''a.exe; filename*0=b.exe\r\n\r\nx\r\n--b--\r\n",
  ],
  [
    'a charset that is two',
    '--b\r\nContent-Type: text/plain; charset=utf-7; charset=utf-8\r\n\r\n+AOQ-\xc3\xa4\r\n--b--\r\n',
  ],
];

const TOP = 'From: a@far.example\r\nTo: me@box.test\r\nSubject: doubtful\r\n';

/** Sixty of them. */
export const AMBIGUOUS: readonly Ambiguous[] = [
  ...HEADERS.map(([name, header]) => ({ name, bytes: octets(`${TOP}${header}\r\n${BODY}`) })),
  ...BODIES.map(([name, body]) => ({ name, bytes: octets(`${TOP}${MIXED}\r\n${body}`) })),
];

function octets(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
