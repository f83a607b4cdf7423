import { describe, expect, test } from 'vitest';
import { bodyLists, bodyTree, flatParts } from '../../../mail/jmap/email/body-part.ts';
import { readContent } from '../../../mail/jmap/email/message-content.ts';
import { ReadBudget } from '../../../mail/jmap/email/header-values.ts';
import { readEmailSelection } from '../../../mail/jmap/email/email-selection.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { unpackParts } from '../../../mail/message/parts.ts';
import { readMessage } from '../../../mail/message/readable.ts';
import { headerTexts, partTexts } from '../../../mail/message/search-text.ts';
import { AMBIGUOUS } from '../../support/ambiguous-mails.ts';
import { type ImapValue, parseImapValue } from '../../support/imap-value.ts';

const WANTED = readEmailSelection(
  ['subject', 'from', 'sentAt', 'messageId', 'bodyStructure', 'bodyValues', 'textBody'],
  {
    bodyProperties: ['partId', 'type', 'size'],
    fetchTextBodyValues: false,
    fetchHTMLBodyValues: false,
    fetchAllBodyValues: true,
    maxBodyValueBytes: 0,
  },
);

/** A part as a protocol shows it: type and body octets. */
type Leaf = readonly [type: string, octets: number];

const word = (value: ImapValue | undefined): string =>
  typeof value === 'object' && value !== null && 'text' in value ? value.text.toLowerCase() : '';

/** The parts without parts of BODYSTRUCTURE, with those of attached messages left out. RFC 3501 7.4.2. */
function imapLeaves(body: ImapValue): Leaf[] {
  if (!Array.isArray(body)) throw new Error('no body');
  const [first] = body;
  if (Array.isArray(first))
    return body
      .slice(
        0,
        body.findIndex((one) => !Array.isArray(one)),
      )
      .flatMap(imapLeaves);
  return [[`${word(first)}/${word(body[1])}`, Number(body[6])]];
}

async function views(bytes: Buffer) {
  const index = indexMessage(bytes);
  const parts = unpackParts(index.parts);
  const tree = bodyTree(index);
  const read = (start: number, length: number): Buffer => bytes.subarray(start, start + length);
  const source = {
    ...index,
    trace: '',
    read: (at: number, n: number) => Promise.resolve(read(at, n)),
    partBlobId: String,
  };
  return {
    index,
    imap: imapLeaves(parseImapValue(index.bodyStructure)),
    envelope: parseImapValue(index.envelope) as ImapValue[],
    tree,
    jmap: await readContent(source, WANTED, new ReadBudget()),
    webhook: readMessage(bytes, parts),
    search: { ...headerTexts(bytes), ...partTexts(read, parts) },
  };
}

const shown = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll('\0', '\ufffd');

describe('sixty messages that readers take apart in different ways', () => {
  test('are sixty', () => {
    expect(AMBIGUOUS.length).toBe(60);
    expect(new Set(AMBIGUOUS.map(({ name }) => name)).size).toBe(60);
  });

  test.each(AMBIGUOUS)('$name: every endpoint shows the same parts', async ({ bytes }) => {
    const { imap, tree, webhook } = await views(bytes);
    const leaves = flatParts(tree).filter(({ subParts }) => subParts === null);
    expect(leaves.map(({ type, part }): Leaf => [type, part.bodyLength])).toEqual(imap);
    const { textBody, htmlBody, attachments } = bodyLists(tree);
    const attached = new Set(webhook.attachments.map(({ path }) => path));
    for (const { part } of leaves) {
      const isText = [...textBody, ...htmlBody].some((body) => body.part.path === part.path);
      expect([part.path, attached.has(part.path) || isText]).toEqual([part.path, true]);
    }
    for (const { part } of attachments) if (part.type !== 'text') expect(attached).toContain(part.path);
  });

  test.each(AMBIGUOUS)('$name: every endpoint shows the same words', async ({ bytes }) => {
    const { tree, jmap, webhook, search } = await views(bytes);
    const values = jmap['bodyValues'] as Record<string, { value: string }>;
    const attached = new Set(webhook.attachments.map(({ path }) => path));
    const own = flatParts(tree).filter(({ part }) => part.type === 'text' && !attached.has(part.path));
    const of = (html: boolean): string =>
      own
        .filter(({ part }) => (part.subtype === 'html') === html)
        .map(({ part }) => values[part.path]?.value)
        .join('\n');
    expect(of(false)).toBe(shown(webhook.text));
    expect(of(true)).toBe(shown(webhook.html));
    // Found is what is shown, HTML without its tags.
    for (const line of webhook.text.split('\n')) expect(shown(search.body)).toContain(shown(line));
    for (const found of ['plain', 'marked'].filter((one) => `${webhook.text} ${webhook.html}`.includes(`${one} words`)))
      expect(search.body).toContain(`${found} words`);
  });
});

/** Fields that may stand once, with what they are in each place: the first and a second. */
const SINGLETONS: readonly [
  field: string,
  first: string,
  second: string,
  view: (of: Awaited<ReturnType<typeof views>>) => unknown[],
][] = [
  [
    'Subject',
    'one',
    'two',
    ({ index, jmap, webhook, envelope }) => [index.subject, jmap['subject'], webhook.subject, word(envelope[1])],
  ],
  [
    'From',
    'one@far.example',
    'two@far.example',
    ({ jmap, webhook, envelope }) => [
      (jmap['from'] as { email: string }[])[0]?.email,
      webhook.from,
      `${word(((envelope[2] as ImapValue[])[0] as ImapValue[])[2])}@far.example`,
    ],
  ],
  [
    'Message-ID',
    '<one@far.example>',
    '<two@far.example>',
    ({ index, jmap, webhook, envelope }) => [
      index.messageId,
      `<${(jmap['messageId'] as string[])[0]}>`,
      webhook.messageId,
      word(envelope[9]),
    ],
  ],
  [
    'Date',
    'Fri, 20 Nov 2026 09:30:00 +0000',
    'Sat, 21 Nov 2026 09:30:00 +0000',
    ({ index, jmap, envelope }) =>
      [index.sentAt, jmap['sentAt'] as string, word(envelope[0])].map((at) =>
        new Date(at).toUTCString().replace('GMT', '+0000'),
      ),
  ],
];

test.each(SINGLETONS)('of two %s fields the first counts everywhere', async (field, first, second, view) => {
  const message = await views(Buffer.from(`${field}: ${first}\r\n${field}: ${second}\r\n\r\nwords\r\n`));
  const seen = view(message);
  expect(seen).toEqual(seen.map(() => first));
});

test.each([
  ['Content-Type', 'text/html', 'text/plain'],
  ['Content-Transfer-Encoding', 'quoted-printable', 'base64'],
])('and of two %s fields, for the body and for a part', async (field, first, second) => {
  const two = `${field}: ${first}\r\n${field}: ${second}\r\n\r\n=3Cb=3E\r\n`;
  const once = `${field}: ${first}\r\n\r\n=3Cb=3E\r\n`;
  const inside = (part: string): string => `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${part}--b--\r\n`;
  for (const around of [(text: string) => text, inside]) {
    const [doubled, single] = [await views(Buffer.from(around(two))), await views(Buffer.from(around(once)))];
    expect(doubled.imap).toEqual(single.imap);
    expect(doubled.webhook).toMatchObject({ text: single.webhook.text, html: single.webhook.html });
    expect(doubled.jmap['bodyValues']).toEqual(single.jmap['bodyValues']);
    expect(doubled.search.body).toBe(single.search.body);
  }
});
