import { expect, test } from 'vitest';
import { checkContent, checkForRecipient, checkClient } from '../../../mail/policy/checks/index.ts';
import { countVisibleText } from '../../../mail/policy/checks/hidden-text.ts';
import { tagsOf } from '../../../mail/policy/html-tags.ts';
import { zipDirectory } from '../../../mail/message/archive/zip.ts';
import { htmlLinks, linksOf, textLinks } from '../../../mail/policy/links.ts';
import { findLookAlike } from '../../../mail/policy/look-alike/look-alike.ts';
import { isFreeMailProvider } from '../../../mail/policy/free-mail.ts';
import { tripletHash } from '../../../mail/policy/greylisting.ts';
import { countLetters } from '../../../mail/policy/count-letters.ts';
import { senderKeys } from '../../../mail/policy/sender-keys.ts';
import type { Sample } from '../../../mail/policy/sample.ts';
import { sampleWith } from '../../support/sample.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

/** Inputs that are known to make parsers slow. */
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
        contents: { names: [text], locked: true, macros: true },
      },
    ],
  });

const PARSERS: Record<string, (text: string) => unknown> = {
  tags: (text) => Array.from(tagsOf(text)).length,
  'links of HTML': htmlLinks,
  'links of text': textLinks,
  links: (text) => linksOf(text, text),
  'hidden text': countVisibleText,
  'a zip directory': (text) => zipDirectory(Buffer.from(text, 'latin1')),
  'a triplet': (text) => tripletHash(text, `${text}@${text}`, text),
  'the keys of a sender': (text) => senderKeys({ ...everywhere(''), author: `${text}@${text}` }),
  'free mail': isFreeMailProvider,
  'names that look alike': (text) => findLookAlike(text, [text, `x${text}`]),
  letters: countLetters,
  'all checks': (text) => {
    const sample = everywhere(text);
    return [checkContent(sample, here), checkClient(sample, here), checkForRecipient(sample, familiar)];
  },
};

// Row E12.
test.each(Object.entries(PARSERS))(
  '%s: the work grows with the input, not with its square',
  { timeout: 60_000 },
  async (_name, parse) => {
    for (const seed of SEEDS) {
      const read = (size: number): unknown => parse(seed.repeat(Math.ceil(size / seed.length)));
      expect(await growth(read, 600_000), JSON.stringify(seed)).toBeLessThan(PROPORTIONAL);
    }
  },
);

const pageOf = (css: string, body: string): unknown => countVisibleText(`<style>${css}</style>${body}`);
const block = `{${Array.from({ length: 380 }, (_, i) => `${i.toString(36)}:1`).join(';')}}`;

/** Each takes about so many octets. */
const MADE: Record<string, (octets: number) => unknown> = {
  'blanks in a tag': (octets) => countVisibleText(`<a${' '.repeat(octets)}">`),
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

// Nothing that one message can be made of is to hold the thread up that looks at all others.
test.each(Object.entries(MADE))('%s: the work grows with the message', { timeout: 60_000 }, async (_name, look) => {
  expect(await growth(look, 250_000)).toBeLessThan(PROPORTIONAL);
});
