import { Random } from './random.ts';

/** A generated message, and the odd features that it has. */
export interface OddStructure {
  name: string;
  bytes: Buffer;
  features: ReadonlySet<string>;
}

interface Maker {
  random: Random;
  features: Set<string>;
  boundaries: number;
}

/** `count` messages of nested parts, the same for the same seed: every second one is well-formed, the others are odd. */
export function oddStructures(count: number, seed = 1): OddStructure[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, number) => {
    const maker: Maker = { random, features: new Set(), boundaries: 0 };
    const isOdd = number % 2 === 1;
    const header = headerOf(maker, number, isOdd);
    const text = header + part(maker, 0, isOdd);
    return { name: `${number}`, bytes: Buffer.from(text, 'latin1'), features: maker.features };
  });
}

/** Decides by chance if an odd message has a feature, and records it. */
function has(maker: Maker, feature: string, isOdd: boolean, share = 0.12): boolean {
  const taken = isOdd && maker.random.chance(share);
  if (taken) maker.features.add(feature);
  return taken;
}

const ADDRESSES = [
  'Ann Example <ann@example.org>',
  '"Example, Bob" <bob@box.test>',
  'cyd@example.net',
  '=?utf-8?Q?J=C3=B6rg?= <joerg@example.de>',
  'Team: ann@example.org, "B" <b@example.org>;',
  'Undisclosed recipients:;',
];

function headerOf(maker: Maker, number: number, isOdd: boolean): string {
  const { random } = maker;
  const addresses = (): string => Array.from({ length: 1 + random.below(3) }, () => random.one(ADDRESSES)).join(', ');
  const fields = [
    has(maker, 'no date', isOdd) ? '' : 'Date: Fri, 20 Nov 2026 09:30:00 +0100\r\n',
    has(maker, 'no sender', isOdd) ? '' : `From: ${random.one(ADDRESSES.slice(0, 4))}\r\n`,
    has(maker, 'no recipient', isOdd) ? '' : `To: ${addresses()}\r\n`,
    random.chance(0.3) ? `Cc: ${addresses()}\r\n` : '',
    random.chance(0.2) ? `Reply-To:\r\n ${addresses()}\r\n` : '',
    random.chance(0.5) ? `Message-ID: <${number}@example.org>\r\n` : '',
    random.chance(0.3) ? `In-Reply-To: <${number - 1}@example.org>\r\n` : '',
    has(maker, '8-bit subject', isOdd) ? 'Subject: gr\xfc\xdfe\r\n' : `Subject: message ${number}\r\n`,
    has(maker, 'empty field', isOdd) ? 'Bcc:\r\n' : '',
    has(maker, 'upper-case names', isOdd) ? 'MIME-VERSION: 1.0\r\n' : 'MIME-Version: 1.0\r\n',
  ];
  return fields.join('');
}

/** Levels below the message. */
const DEPTH = 4;

/** The fields, the empty line and the body of a part. */
function part(maker: Maker, depth: number, isOdd: boolean): string {
  const kind = maker.random.below(depth >= DEPTH ? 4 : 8);
  if (kind === 4 && depth > 0) return attachedMessage(maker, depth, isOdd);
  return kind >= 4 ? multipartOf(maker, depth, isOdd) : leaf(maker, isOdd);
}

const TYPES = [
  'text/plain; charset=utf-8',
  'text/html; charset="iso-8859-1"',
  'image/png; name="a b.png"',
  'text/plain',
];
const ENCODINGS = ['7bit', 'base64', 'quoted-printable', '8bit'];

function leaf(maker: Maker, isOdd: boolean): string {
  const { random } = maker;
  const fields = [
    has(maker, 'no type', isOdd) ? '' : `Content-Type: ${typeOf(maker, isOdd)}\r\n`,
    random.chance(0.6) ? `Content-Transfer-Encoding: ${encodingOf(maker, isOdd)}\r\n` : '',
    random.chance(0.3) ? `Content-Disposition: ${random.one(['attachment; filename="x.txt"', 'inline'])}\r\n` : '',
    random.chance(0.2) ? 'Content-ID: <part@example.org>\r\n' : '',
    random.chance(0.2) ? 'Content-Description: a part\r\n' : '',
    random.chance(0.1) ? 'Content-Language: en\r\n' : '',
    random.chance(0.1) ? 'Content-MD5: Q2hlY2sgSW50ZWdyaXR5IQ==\r\n' : '',
  ];
  return `${fields.join('')}\r\n${textOf(maker, isOdd)}`;
}

function typeOf(maker: Maker, isOdd: boolean): string {
  if (has(maker, 'unknown charset', isOdd)) return 'text/plain; charset=x-unknown-8';
  if (has(maker, 'folded parameters', isOdd)) return 'TEXT/PLAIN;\r\n\tcharset=US-ASCII;\r\n format=flowed';
  if (has(maker, 'comment in a type', isOdd)) return 'text/plain (a comment); charset=utf-8';
  return maker.random.one(TYPES);
}

function encodingOf(maker: Maker, isOdd: boolean): string {
  if (has(maker, 'unknown encoding', isOdd)) return 'x-uuencode';
  return has(maker, 'upper-case encoding', isOdd) ? 'BASE64' : maker.random.one(ENCODINGS);
}

function textOf(maker: Maker, isOdd: boolean): string {
  const { random } = maker;
  if (has(maker, 'empty body', isOdd)) return '';
  const lines = Array.from({ length: random.below(6) }, () =>
    random.one(['line', '', 'a longer line = of text', '--', '-- ']),
  );
  if (has(maker, '8-bit body', isOdd)) lines.push('\xe4\xf6\xfc\x80');
  if (has(maker, 'body like a header', isOdd)) lines.push('Content-Type: text/html', '');
  return lines.join('\r\n') + (random.chance(0.7) ? '\r\n' : '');
}

function attachedMessage(maker: Maker, depth: number, isOdd: boolean): string {
  const inner = headerOf(maker, maker.random.below(1_000), isOdd) + part(maker, depth + 1, isOdd);
  const name = has(maker, 'named message', isOdd) ? '; name="m.eml"' : '';
  return `Content-Type: message/rfc822${name}\r\n\r\n${inner}`;
}

const SUBTYPES = ['mixed', 'alternative', 'related', 'report', 'signed', 'x-odd'];

function multipartOf(maker: Maker, depth: number, isOdd: boolean): string {
  const { random } = maker;
  maker.boundaries += 1;
  const boundary = has(maker, 'boundary that begins another', isOdd)
    ? 'b'.repeat(maker.boundaries)
    : `=_${maker.boundaries}_${random.below(100_000)}`;
  const subtype = random.one(SUBTYPES);
  const children = Array.from({ length: 1 + random.below(3) }, () =>
    subtype === 'x-odd' && has(maker, 'part without fields', isOdd, 0.5)
      ? `\r\n${textOf(maker, isOdd)}`
      : part(maker, depth + 1, isOdd),
  );
  const delimiter = has(maker, 'blanks after a delimiter', isOdd) ? `--${boundary} \t` : `--${boundary}`;
  const preamble = random.chance(0.3) ? 'This is a multipart message.\r\n' : '';
  const epilogue = random.chance(0.2) ? '\r\nepilogue\r\n' : '';
  const body = children.map((child) => `${delimiter}\r\n${child}\r\n`).join('');
  const end = has(maker, 'no close delimiter', isOdd) ? '' : `--${boundary}--`;
  const ending = has(maker, 'ends without a line end', isOdd) ? '' : '\r\n';
  return `Content-Type: multipart/${subtype};\r\n boundary="${boundary}"\r\n\r\n${preamble}${body}${end}${ending}${epilogue}`;
}
