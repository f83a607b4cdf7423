import { expect, test } from 'vitest';
import { checkContent, checkFamiliar, checkPeer } from '../../../mail/policy/checks/index.ts';
import { amounts } from '../../../mail/policy/checks/hidden-text.ts';
import { tagsOf } from '../../../mail/policy/html-tags.ts';
import { sevenZipDirectory } from '../../../mail/policy/inside/seven-zip.ts';
import { zipDirectory } from '../../../mail/policy/inside/zip-directory.ts';
import { htmlLinks, linksOf, textLinks } from '../../../mail/policy/links.ts';
import { lookAlike } from '../../../mail/policy/alike/look-alike.ts';
import { isFreeMail } from '../../../mail/policy/free-mail.ts';
import { tripletOf } from '../../../mail/policy/greylisting.ts';
import { countLetters } from '../../../mail/policy/letters.ts';
import { senderKeys } from '../../../mail/policy/sender-keys.ts';
import type { Sample } from '../../../mail/policy/sample.ts';
import { sampleWith } from '../../support/sample.ts';

/** What has been seen to make parsers slow. */
const SEEDS = [
  '(',
  '"',
  '\\',
  ' ',
  '<',
  '@',
  '=?',
  ';',
  ',',
  '.',
  'http://',
  'www.',
  '<a ',
  '<a href="',
  "<a href='",
  '<!--',
  '</a',
  '<a b=c ',
  '<p style="display:none">',
  '<style>',
  '&',
  '&#',
  'a@',
  '<a@b.example>, ',
  'paypal-',
  '\u0430',
  '\u202e',
  'PK\x01\x02',
  '-',
  '1',
  ':',
  'a=',
  '<a href=http://a.b/>x',
];

function cpu(parse: (text: string) => unknown, text: string): number {
  const { user, system } = process.cpuUsage();
  parse(text);
  const after = process.cpuUsage();
  return (after.user + after.system - user - system) / 1000;
}

const here = { hostname: 'box.test', now: 0 };
const familiar = { own: ['mybakery.example'], written: ['oldfriends.example'] };
const everywhere = (text: string): Sample =>
  sampleWith({
    subject: text,
    sender: text,
    author: `${text}@${text}`,
    text,
    html: text,
    peer: { ip: '192.0.2.7', helo: text, name: text },
    fields: ['from', 'reply-to', 'date', 'received', 'received', 'precedence', 'list-id'].map((name) => ({
      name,
      value: text,
      start: 0,
      end: 0,
    })),
    links: [{ url: text, text }],
    parts: [
      {
        type: text,
        name: text,
        size: 1,
        head: Buffer.from(text),
        inside: { names: [text], locked: true, macros: true },
      },
    ],
  });

const PARSERS: Record<string, (text: string) => unknown> = {
  tags: (text) => Array.from(tagsOf(text)).length,
  'links of HTML': htmlLinks,
  'links of text': textLinks,
  links: (text) => linksOf(text, text),
  'hidden text': amounts,
  'a zip directory': (text) => zipDirectory(Buffer.from(text, 'latin1')),
  'a triplet': (text) => tripletOf(text, `${text}@${text}`, text),
  'the keys of a sender': (text) => senderKeys({ ...everywhere(''), author: `${text}@${text}` }),
  'free mail': isFreeMail,
  'names that look alike': (text) => lookAlike(text, [text, `x${text}`]),
  letters: countLetters,
  'all checks': (text) => {
    const sample = everywhere(text);
    return [checkContent(sample, here), checkPeer(sample, here), checkFamiliar(sample, familiar)];
  },
};

// Row E12. Ten times the input may take fifteen times the work; what is too short to be measured counts as 15 ms.
test.each(Object.entries(PARSERS))('%s: the work grows with the input, not with its square', (_name, parse) => {
  for (const seed of SEEDS) {
    const text = seed.repeat(Math.ceil(60_000 / seed.length));
    parse(text.slice(0, 6000));
    const short = cpu(parse, text);
    const long = Math.min(...[1, 2].map(() => cpu(parse, text.repeat(10))));
    expect(long, JSON.stringify(seed)).toBeLessThan(15 * Math.max(short, 15));
  }
});

/** A 7z file whose directory speaks again and again of the same folders, in which there is nothing. */
function foldersOf(count: number): unknown {
  const number = [0xe0, count & 255, (count >> 8) & 255, count >> 16];
  const folders = Buffer.from([1, 4, 7, 0x0b, ...number, 0]);
  const directory = Buffer.concat([folders, Buffer.alloc(count), Buffer.alloc(count, 0x0c)]);
  const head = Buffer.alloc(32);
  head.write('377abcaf271c', 'hex');
  head.writeUInt32LE(directory.length, 20);
  return sevenZipDirectory(head, directory, head.length + directory.length);
}

const pageOf = (css: string, body: string): unknown => amounts(`<style>${css}</style>${body}`);
const block = `{${Array.from({ length: 380 }, (_, i) => `${i.toString(36)}:1`).join(';')}}`;

/** Each takes about so many octets. */
const MADE: Record<string, (octets: number) => unknown> = {
  'folders of 7z without files': (octets) => foldersOf(octets / 3),
  'blanks in a tag': (octets) => amounts(`<a${' '.repeat(octets)}">`),
  'blanks in a selector': (octets) => pageOf(`a${' '.repeat(octets)}b{x:y}`, '<a>'),
  'a selector of one class': (octets) => pageOf(`${'.a'.repeat(octets / 4)}{x:y}`, '<a class=a>'.repeat(octets / 22)),
  'selectors of one class, around many': (octets) =>
    pageOf(
      `${'.a'.repeat(50)}.b i{x:y}`.repeat(octets / 220),
      '<a class=a><b class=a>'.repeat(20) + '<i>'.repeat(octets / 6),
    ),
  'blocks inside each other': (octets) => pageOf('@media{'.repeat(octets / 14) + 'a{}'.repeat(octets / 6), '<a>'),
  'large blocks': (octets) => pageOf(`a${block}`.repeat(octets / 2 / block.length), '<a>'.repeat(octets / 6)),
  'large values': (octets) =>
    pageOf('[x~="b"]{a:b}'.repeat(octets / 26), `<a x="${'a '.repeat(4090)}">`.repeat(octets / 16_400)),
};

// Nothing that one message can be made of is to hold the thread up that looks at all others: 2 s, and it is ended.
test.each(Object.entries(MADE))('%s: a quarter of a megabyte takes no two seconds', (_name, look) => {
  look(2000);
  expect(cpu(() => look(250_000), '')).toBeLessThan(2000);
});
