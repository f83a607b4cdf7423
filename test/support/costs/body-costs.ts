import { bodyFromStructure } from '../../../mail/message/body-from-structure.ts';
import { Base64Decoder } from '../../../mail/message/base64-decoder.ts';
import { base64Lines, type ComposedMessage, composeMessage } from '../../../mail/message/compose-message.ts';
import { textEntity, textLines } from '../../../mail/message/compose-text.ts';
import { decodeCharset, decodeTransfer, decodeWithProblem, guessLatin1 } from '../../../mail/message/decode.ts';
import { highlight, highlightPart } from '../../../mail/message/highlight.ts';
import { decodeAttribute, decodeEntities } from '../../../mail/message/html-entities.ts';
import { htmlText } from '../../../mail/message/html-text.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { LineEndNormalizer } from '../../../mail/message/line-end-normalizer.ts';
import { readMdn } from '../../../mail/message/mdn.ts';
import { MessageFactsReader } from '../../../mail/message/message-facts.ts';
import { type Part, unpackParts } from '../../../mail/message/parts.ts';
import { previewOf, previewText } from '../../../mail/message/preview.ts';
import { encodeQuotedPrintable } from '../../../mail/message/quoted-printable.ts';
import { readMessage } from '../../../mail/message/readable.ts';
import { quotedSenders, readReport, statusFor } from '../../../mail/message/report.ts';
import { boundTerms, findTerms, readTerms } from '../../../mail/message/search-terms.ts';
import { headerTexts, MAX_SEARCHED_CHARS, partTexts } from '../../../mail/message/search-text.ts';
import { SecretLinkForms, withoutLinks } from '../../../mail/message/secret-link.ts';
import { section } from '../../../mail/message/section.ts';
import { decodeStream } from '../../../mail/message/transfer-stream.ts';
import { decodeUtf7 } from '../../../mail/message/utf7.ts';
import { foldWord, segment, tokensOf } from '../../../mail/message/word-tokens.ts';
import { type CostRow, costs, driven, octets } from './row.ts';

const LETTER: ComposedMessage = {
  from: { address: { local: 'a', domain: 'box.test' } },
  to: [],
  cc: [],
  replyTo: [],
  subject: '',
  date: 0,
  messageId: '<a@box.test>',
  attachments: [],
  headers: [],
};
const LINKS = new SecretLinkForms({ hosts: ['a.test'], paths: ['/b'] });
const term = { words: ['a'], prefix: true };

/** Returns a part that is the whole text, of a kind that is decoded. */
export function wholePart(text: string, type: string, subtype: string, encoding = '7bit'): Part[] {
  const [root] = unpackParts(indexMessage(octets('\r\n')).parts);
  if (root === undefined) throw new Error('a message without a part');
  const whole = { ...root, type, subtype, encoding, bodyLength: text.length, decodedLength: text.length };
  return [{ ...whole, headerOffset: 0, bodyOffset: 0 }];
}

/** Composes a report of three parts around a text. */
function report(type: string, text: string): { data: Buffer; all: Part[] } {
  const head = 'Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\n\r\nx\r\n';
  const about = `--b\r\nContent-Type: message/${type}\r\n\r\n${text}\r\n`;
  const data = octets(`${head}${about}--b\r\nContent-Type: text/rfc822-headers\r\n\r\n${text}\r\n--b--\r\n`);
  return { data, all: unpackParts(indexMessage(data).parts) };
}

function statusReport(text: string): unknown {
  const { data, all } = report('delivery-status', text);
  return readReport(data, all);
}

function abuseReport(text: string): unknown {
  const { data, all } = report('feedback-report', `Original-Mail-From: ${text}`);
  return quotedSenders(data, all);
}

/** Yields a text in pieces, as a file is read. */
export async function* pieces(text: string): AsyncGenerator<Buffer> {
  const all = octets(text);
  for (let at = 0; at === 0 || at < all.length; at += 65_536) yield all.subarray(at, at + 65_536);
}

/** Counts the octets of a stream. */
export async function drained(stream: AsyncIterable<Buffer>): Promise<number> {
  let size = 0;
  for await (const piece of stream) size += piece.length;
  return size;
}

function facts(text: string): unknown {
  const reader = new MessageFactsReader();
  reader.push(octets(text));
  return reader.end();
}

/** Makes many parts, each with a boundary of its own that is open inside the one before. */
function nestedParts(size: number): string {
  const head = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n';
  const opened = Array.from({ length: 30 }, (_, n) => `--b\r\nContent-Type: multipart/mixed; boundary=b${n}\r\n\r\n`);
  return head + opened.join('') + '--b29\r\n\r\na\r\n'.repeat(size / 12);
}

const PARTS = costs(
  {
    at: 'mail/message',
    input: 'message',
    bound: 'message limit; 1,000 parts, 20 levels',
    thread: 'main, reader, filter',
  },
  {
    indexMessage: driven((text) => indexMessage(octets(text)), { made: [nestedParts] }),
    'indexMessage: multipart': (text) =>
      indexMessage(octets(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${text}`)),
    'indexMessage: header values': (text) =>
      indexMessage(octets(`Subject: ${text}\r\nContent-Type: ${text}\r\nTo: ${text}\r\nReferences: ${text}`)),
    'indexMessage: secret links': (text) => indexMessage(octets(`\r\ntoken${text}`), LINKS),
    bodyFromStructure: (text) => bodyFromStructure(indexMessage(octets(`Content-Type: ${text}\r\n\r\n`)).bodyStructure),
    section: (text) => section(unpackParts(indexMessage(octets(text)).parts), '1', 'TEXT'),
    MessageFactsReader: facts,
    LineEndNormalizer: (text) => new LineEndNormalizer().push(octets(text)),
    SecretLinkForms: (text) => LINKS.in(`http://a.test/b?${text}`),
    withoutLinks,
    readMessage: driven((text) => readMessage(octets(text), wholePart(text, 'text', 'html')), {
      thread: 'reader, documents',
    }),
  },
);

const CHARSETS = ['', 'utf-8', 'utf-7', 'iso-2022-jp', 'gb18030', 'windows-1252'];
const TEXTS = costs(
  { at: 'mail/message', input: 'body of a part', bound: 'message limit', thread: 'main, reader, filter' },
  {
    'decodeTransfer: quoted-printable': (text) => decodeTransfer(octets(text), 'quoted-printable'),
    'decodeTransfer: base64': (text) => decodeTransfer(octets(text), 'base64'),
    Base64Decoder: (text) => new Base64Decoder().push(octets(text)),
    'decodeStream: quoted-printable': (text) => drained(decodeStream(pieces(text), 'quoted-printable')),
    'decodeStream: base64': (text) => drained(decodeStream(pieces(text), 'base64')),
    ...Object.fromEntries(
      CHARSETS.map((charset) => [
        `decodeCharset: ${charset || 'none'}`,
        (text: string) => decodeCharset(octets(text), charset),
      ]),
    ),
    decodeWithProblem: (text) => decodeWithProblem(octets(text), 'utf-8'),
    guessLatin1,
    decodeUtf7,
    decodeEntities,
    decodeAttribute,
    htmlText: (text) => htmlText(text, 1e9),
    'htmlText: in a tag': (text) => htmlText(`<style>${text}`, 1e9),
    previewText: driven(previewText, { bound: '16 KiB of the part' }),
    previewOf: driven((text) => previewOf(octets(text), { subtype: 'html', charset: '', encoding: '7bit' }), {
      bound: '16 KiB of the part',
    }),
  },
);

const SEARCHED = costs(
  {
    at: 'mail/message',
    input: 'text that is indexed or searched',
    bound: '256 Ki characters, 200 words',
    thread: 'text, reader',
    most: MAX_SEARCHED_CHARS,
  },
  {
    headerTexts: (text) => headerTexts(octets(`Subject: ${text}`)),
    partTexts: (text) => partTexts(() => octets(text), wholePart(text, 'text', 'html')),
    readTerms: driven(readTerms, { input: 'query', bound: '1,000 characters, 200 words' }),
    boundTerms: driven((text) => boundTerms(text.split(' ').map((word) => ({ words: [word], prefix: false }))), {
      input: 'query',
      bound: '200 words without repetitions',
    }),
    findTerms: (text) => [...findTerms([term], tokensOf(text))],
    highlight: (text) => highlight(text, [term]),
    highlightPart: (text) => highlightPart(text, [term], 255),
    tokensOf,
    segment,
    foldWord,
  },
);

const COMPOSED = costs(
  {
    at: 'mail/message',
    input: 'text, HTML and files of an outgoing message',
    bound: 'message limit; above 64 KiB in the thread for documents',
    thread: 'main, documents',
  },
  {
    textEntity,
    textLines,
    encodeQuotedPrintable: (text) => encodeQuotedPrintable(octets(text)),
    base64Lines: (text) => base64Lines(octets(text)),
    composeMessage: (html) => composeMessage({ ...LETTER, html }),
    'composeMessage: subject': (subject) => composeMessage({ ...LETTER, subject }),
  },
);

const REPORTS = costs(
  {
    at: 'mail/message',
    input: 'delivery, abuse and read reports',
    bound: '256 KiB, 2,000 fields, 100 recipients',
    thread: 'main',
  },
  {
    readReport: statusReport,
    'readReport: in words': (text) => readReport(octets(text), wholePart(text, 'text', 'plain')),
    statusFor: driven((text) => statusFor({ kind: 'words', text: `5.1.1 ${text}` }, 'a@b'), {
      bound: '16 KiB of text',
      most: 16_384,
    }),
    quotedSenders: driven(abuseReport, { most: 262_144 }),
    readMdn: (text) => readMdn(report('disposition-notification', `Disposition: ${text}`).data),
  },
);

/** Functions that read the parts and texts of a message. */
export const BODY_COSTS: readonly CostRow[] = [...PARTS, ...TEXTS, ...SEARCHED, ...COMPOSED, ...REPORTS];
