import { createSecretKey } from 'node:crypto';
import { JUDGING } from './judging-parsers.ts';
import { parseSpf, spfTexts } from '../../src/domains/spf-record.ts';
import { parseBounded } from '../../src/core/json.ts';
import { readMessage as readRpc } from '../../src/mcp/request.ts';
import { readMailbox } from '../../src/sending/mailbox-text.ts';
import { checkWebhookUrl } from '../../src/webhooks/url-check.ts';
import { readUnsubscribe } from '../../src/unsubscribe/commands.ts';
import { safeName } from '../../src/webhooks/payload.ts';
import { leadingAuthserv, removeForgedResults } from '../../mail/auth/forged-results.ts';
import { selectFields } from '../../mail/auth/dkim-sign.ts';
import { FileScan } from '../../mail/agents/secrets/files/file-scan.ts';
import { pdfStrings } from '../../mail/agents/secrets/files/pdf.ts';
import { hasBareSecret, SecretFormats } from '../../mail/agents/secrets/secret-patterns.ts';
import { fragmentsOf, SecretScan } from '../../mail/agents/secrets/scan.ts';
import { lettersOf, plainText as inSmallLetters } from '../../mail/agents/secrets/plain.ts';
import { ShownForms } from '../../mail/agents/secrets/shown-form.ts';
import { viewsOf } from '../../mail/agents/secrets/views.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { checkForward } from '../../mail/forwarder/loop-guard.ts';
import { isSrsLocalPart, originalSender } from '../../mail/forwarder/srs.ts';
import { parseFetch } from '../../mail/imap/fetch/parse.ts';
import { bodyFacts, headerFacts } from '../../mail/imap/search/message-text.ts';
import { parseSearch } from '../../mail/imap/search/parse.ts';
import { plainText } from '../../mail/imap/search/plain-text.ts';
import { parseDateTime, parseDate as parseImapDate } from '../../mail/imap/wire/dates.ts';
import { Decoder } from '../../mail/imap/wire/decoder.ts';
import { AFTER_LOGIN, CommandReader } from '../../mail/imap/wire/command-reader.ts';
import { literalMarker, tagOf } from '../../mail/imap/wire/literal-marker.ts';
import { canonicalName, fromUtf7, patternMatcher, toUtf7 } from '../../mail/imap/wire/mailbox-name.ts';
import { textOf } from '../../mail/imap/wire/text.ts';
import { readHeaderProperty } from '../../mail/jmap/email/email-selection.ts';
import { readJson } from '../../mail/jmap/core/json.ts';
import { mediaType } from '../../mail/jmap/core/media-type.ts';
import { evaluate } from '../../mail/jmap/core/request.ts';
import { parseClientFinal, parseClientFirst } from '../../mail/login/scram.ts';
import { keyedAddress, parseAddress, parseDomain, textKey } from '../../mail/message/address.ts';
import { noReplyReason } from '../../mail/message/no-reply-reason.ts';
import { parseAuthors } from '../../mail/message/authors.ts';
import { overridesDirection, shownAddresses, shownName } from '../../mail/message/shown-name.ts';
import { isPlainAddress, plainAddress } from '../../mail/message/plain-address.ts';
import { Base64Decoder } from '../../mail/message/base64-decoder.ts';
import { replyReferences } from '../../mail/message/reply-references.ts';
import { LineEndNormalizer } from '../../mail/message/line-end-normalizer.ts';
import { bodyFromStructure } from '../../mail/message/body-from-structure.ts';
import { parseDate, zonedDate } from '../../mail/message/date.ts';
import { decodeCharset, decodeWithProblem, decodeTransfer, guessLatin1 } from '../../mail/message/decode.ts';
import { decodePlacedWords, decodeWords, sevenBitText } from '../../mail/message/encoded-word.ts';
import { displayKey, envelopeFields, formatEnvelope } from '../../mail/message/envelope.ts';
import { MessageFactsReader } from '../../mail/message/message-facts.ts';
import { parseAddressList } from '../../mail/message/header-addresses.ts';
import { HEADER_FORMS, headerForm } from '../../mail/message/header-forms.ts';
import { headerText, rawText } from '../../mail/message/header-text.ts';
import { readFields, selectHeaderFields, unfold } from '../../mail/message/header.ts';
import { highlight, highlightPart } from '../../mail/message/highlight.ts';
import { composeMessage, type ComposedMessage } from '../../mail/message/compose-message.ts';
import { textEntity, textLines } from '../../mail/message/compose-text.ts';
import { encodeQuotedPrintable } from '../../mail/message/quoted-printable.ts';
import { decodeAttribute, decodeEntities } from '../../mail/message/html-entities.ts';
import { htmlText } from '../../mail/message/html-text.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { LIMITS } from '../../mail/message/limits.ts';
import { isMailboxLevel } from '../../mail/message/mailbox-level.ts';
import { readMdn } from '../../mail/message/mdn.ts';
import { messageIds, ownId, threadRefs, writtenIds } from '../../mail/message/msg-id.ts';
import { addressGroups, namedAddresses } from '../../mail/message/named-address.ts';
import { decodedParameter, parameter, parseParameters } from '../../mail/message/parameters.ts';
import { boundaryOf, readPartHeader } from '../../mail/message/part-header.ts';
import { type Part, unpackParts } from '../../mail/message/parts.ts';
import { previewOf, previewText } from '../../mail/message/preview.ts';
import { readMessage } from '../../mail/message/readable.ts';
import { SecretLinkForms, withoutLinks } from '../../mail/message/secret-link.ts';
import { copyOfReportAddress } from '../../mail/message/report-address.ts';
import { quotedSenders, readReport, statusFor } from '../../mail/message/report.ts';
import { rewriteSubmittedHeader } from '../../mail/message/rewrite.ts';
import { boundTerms, findTerms, readTerms } from '../../mail/message/search-terms.ts';
import { headerTexts, partTexts, MAX_SEARCHED_CHARS } from '../../mail/message/search-text.ts';
import { readEnvelope } from '../../mail/message/stored-envelope.ts';
import { readStructure } from '../../mail/message/stored-structure.ts';
import { baseSubject, casemap } from '../../mail/message/subject.ts';
import { decodeStream } from '../../mail/message/transfer-stream.ts';
import { decodeUtf7 } from '../../mail/message/utf7.ts';
import { imapString } from '../../mail/message/wire-string.ts';
import { readWire } from '../../mail/message/wire-value.ts';
import { fold, segment, tokensOf } from '../../mail/message/word-tokens.ts';
import { parseExtensions } from '../../mail/relay/server-extensions.ts';
import { classifyReply } from '../../mail/relay/reply-class.ts';
import { readStsPolicy, readStsRecord } from '../../mail/relay/tls-policy/sts-text.ts';
import { decodeBase64 } from '../../mail/smtp/base64.ts';
import { parseBdat } from '../../mail/smtp/bdat-command.ts';
import { DataReader } from '../../mail/smtp/data-reader.ts';
import { parseHelo } from '../../mail/smtp/helo-command.ts';
import { LineReader } from '../../mail/smtp/line-reader.ts';
import { parseMail } from '../../mail/smtp/mail-command.ts';
import { readParameters } from '../../mail/smtp/parameters.ts';
import { readPath } from '../../mail/smtp/path.ts';
import { parseRcpt } from '../../mail/smtp/rcpt-command.ts';
import { ReplyReader } from '../../mail/smtp/reply-reader.ts';
import { decodeXtext } from '../../mail/smtp/xtext.ts';

/** A function that parses the text of a peer. */
export interface Parser {
  /** Name of the function in `mail/`, then the case that is tested. */
  name: string;
  parse: (text: string) => unknown;
  /** Largest input of its callers, in octets; by default a megabyte is tried. */
  most?: number;
}

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
const octets = (text: string): Buffer => Buffer.from(text, 'latin1');
const forms = new ShownForms(new Uint8Array(32));
const shown = forms.search([
  ...(['password', 'code', 'link'] as const).flatMap((kind) => forms.make(kind, '00aaaa00') ?? []),
  ...['1212', '121212'].flatMap((code) => forms.make('code', code) ?? []),
]);
const sought = { formats: new SecretFormats('mst'), shown };
const key = Buffer.alloc(32, 1);
const term = { words: ['a'], prefix: true };

const LINKS = new SecretLinkForms({ hosts: ['a.test'], paths: ['/b'] });

/** A part that is the whole text, of the kinds that are decoded. */
function parts(text: string, type: string, subtype: string, encoding = '7bit'): Part[] {
  const [root] = unpackParts(indexMessage(octets('\r\n')).parts);
  if (root === undefined) throw new Error('a message without a part');
  const whole = { ...root, type, subtype, encoding, bodyLength: text.length, decodedLength: text.length };
  return [{ ...whole, headerOffset: 0, bodyOffset: 0 }];
}

/** A report of three parts around a text. */
function report(type: string, text: string): { data: Buffer; all: Part[] } {
  const head = 'Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\n\r\nx\r\n';
  const about = `--b\r\nContent-Type: message/${type}\r\n\r\n${text}\r\n`;
  const data = octets(`${head}${about}--b\r\nContent-Type: text/rfc822-headers\r\n\r\n${text}\r\n--b--\r\n`);
  return { data, all: unpackParts(indexMessage(data).parts) };
}

const partOf = (text: string): unknown => {
  const all = report('delivery-status', text);
  return readReport(all.data, all.all);
};

/** As a file is read. */
async function* once(text: string): AsyncGenerator<Buffer> {
  for (let at = 0; at === 0 || at < text.length; at += 65_536) yield octets(text.slice(at, at + 65_536));
}

async function drained(pieces: AsyncIterable<Buffer>): Promise<number> {
  let size = 0;
  for await (const piece of pieces) size += piece.length;
  return size;
}

/** Applies one parser of IMAP command arguments; returns a syntax error instead of throwing it. */
function imap(text: string, read: (d: Decoder) => unknown): unknown {
  try {
    return read(new Decoder(octets(text)));
  } catch (error) {
    return error;
  }
}

function commands(text: string): number {
  const reader = new CommandReader(AFTER_LOGIN);
  let events = 0;
  reader.push(octets(text));
  while (reader.next() !== undefined) events += 1;
  return events;
}

function lines(text: string): number {
  const reader = new LineReader();
  let found = 0;
  reader.push(octets(text));
  while (reader.line(512) !== undefined) found += 1;
  return found;
}

/** Nothing is there. */
const RESOLVER: Pick<Resolver, 'a' | 'aaaa'> = {
  a: () => Promise.resolve({ kind: 'none', nx: true }),
  aaaa: () => Promise.resolve({ kind: 'none', nx: true }),
};

const MESSAGE: Parser[] = [
  { name: 'readFields', parse: (text) => readFields(text) },
  { name: 'readFields of lines that are none', parse: (text) => readFields(`a\r\n${text.replaceAll(':', ';')}`) },
  { name: 'unfold', parse: unfold },
  { name: 'selectHeaderFields', parse: (text) => selectHeaderFields(octets(text), ['from', 'a']) },
  { name: 'parseAddress', parse: parseAddress },
  { name: 'parseDomain', parse: parseDomain },
  { name: 'textKey', parse: textKey },
  { name: 'keyedAddress', parse: keyedAddress },
  { name: 'isPlainAddress', parse: isPlainAddress },
  { name: 'plainAddress', parse: (text) => plainAddress(`"${text}`) },
  { name: 'parseAddressList', parse: (text) => parseAddressList(text) },
  { name: 'parseAddressList in a bracket', parse: (text) => parseAddressList(`<${text}`) },
  { name: 'namedAddresses', parse: (text) => namedAddresses(parseAddressList(text, 2000)) },
  { name: 'addressGroups', parse: (text) => addressGroups(parseAddressList(text, 2000)) },
  { name: 'parseAuthors', parse: (text) => parseAuthors(octets(`From: ${text}\r\n`)) },
  { name: 'parseAuthors of a header', parse: (text) => parseAuthors(octets(text)) },
  { name: 'shownAddresses', parse: shownAddresses },
  { name: 'shownName', parse: shownName },
  { name: 'overridesDirection', parse: overridesDirection },
  {
    name: 'noReplyReason by a word',
    parse: (text) => noReplyReason({ local: 'a', domain: 'b' }, fields(text), new Set()),
  },
  {
    name: 'noReplyReason by a header',
    parse: (text) => noReplyReason({ local: 'a', domain: 'b' }, readFields(text), new Set()),
  },
  { name: 'parseParameters', parse: parseParameters },
  { name: 'parseParameters behind a type', parse: (text) => parseParameters(`a/b; ${text}`) },
  { name: 'parameter', parse: (text) => parameter(parseParameters(`a/b; ${text}`).params, 'name') },
  { name: 'decodedParameter', parse: (text) => decodedParameter(parseParameters(text).params, 'name') },
  { name: 'readPartHeader', parse: (text) => boundaryOf(readPartHeader(fields(text), 'text/plain')) },
  {
    name: 'boundaryOf',
    parse: (text) => boundaryOf(readPartHeader(fields(`multipart/a; boundary=${text}`), 'text/plain')),
  },
  { name: 'decodeWords', parse: decodeWords },
  { name: 'decodePlacedWords', parse: decodePlacedWords },
  { name: 'sevenBitText', parse: sevenBitText },
  { name: 'imapString', parse: imapString },
  { name: 'parseDate', parse: parseDate },
  { name: 'parseDate behind a day', parse: (text) => parseDate(`Fri, 20 Nov 2026 ${text}`) },
  { name: 'zonedDate', parse: zonedDate },
  { name: 'messageIds', parse: messageIds },
  { name: 'writtenIds', parse: writtenIds },
  { name: 'ownId', parse: ownId },
  { name: 'threadRefs', parse: (text) => threadRefs('a', text, text) },
  {
    name: 'replyReferences',
    parse: (text) => replyReferences({ messageId: '<a@b>', inReplyTo: text, references: text }),
  },
  { name: 'baseSubject', parse: baseSubject },
  { name: 'casemap', parse: casemap },
  { name: 'previewText', parse: previewText },
  { name: 'previewOf', parse: (text) => previewOf(octets(text), { subtype: 'html', charset: '', encoding: '7bit' }) },
  { name: 'decodeEntities', parse: decodeEntities },
  { name: 'decodeAttribute', parse: decodeAttribute },
  { name: 'viewsOf', parse: (text) => Array.from(viewsOf(text)).length, most: 33_000 },
  {
    name: 'SecretFormats',
    parse: (text) => new SecretFormats('mst').in(inSmallLetters(text), lettersOf(inSmallLetters(text))),
  },
  { name: 'hasBareSecret', parse: hasBareSecret },
  { name: 'fragmentsOf', parse: fragmentsOf },
  ...['PK\x03\x04', '%PDF-1.4\n1 0 obj\nstream\n(', 'UEsDB'].map((head) => ({
    name: `FileScan behind ${JSON.stringify(head.slice(0, 5))}`,
    parse: (text: string) => new FileScan(new SecretScan(sought)).look(octets(head + text)),
    most: 50_000,
  })),
  { name: 'pdfStrings', parse: pdfStrings },
  { name: 'ShownSearch', parse: (text) => shown.in(inSmallLetters(text), lettersOf(inSmallLetters(text))) },
  { name: 'htmlText', parse: (text) => htmlText(text, 1e9) },
  { name: 'htmlText in a tag', parse: (text) => htmlText(`<style>${text}`, 1e9) },
  ...HEADER_FORMS.map((form) => ({ name: `headerForm ${form}`, parse: (text: string) => headerForm(form, text) })),
  { name: 'headerText', parse: headerText },
  { name: 'rawText', parse: rawText },
  { name: 'readWire', parse: readWire, most: LIMITS.structure },
  { name: 'readStructure', parse: readStructure, most: LIMITS.structure },
  { name: 'readEnvelope', parse: readEnvelope, most: LIMITS.structure },
  {
    name: 'bodyFromStructure',
    parse: (text) => bodyFromStructure(indexMessage(octets(`Content-Type: ${text}\r\n\r\n`)).bodyStructure),
  },
  { name: 'envelopeFields', parse: (text) => envelopeFields(readFields(`From: ${text}`), { left: 2000 }) },
  {
    name: 'formatEnvelope',
    parse: (text) => formatEnvelope(envelopeFields(readFields(`To: ${text}`), { left: 2000 })),
  },
  { name: 'displayKey', parse: (text) => displayKey(parseAddressList(text, 2000)) },
  { name: 'decodeUtf7', parse: decodeUtf7 },
  { name: 'decodeTransfer quoted-printable', parse: (text) => decodeTransfer(octets(text), 'quoted-printable') },
  { name: 'decodeTransfer base64', parse: (text) => decodeTransfer(octets(text), 'base64') },
  { name: 'Base64Decoder', parse: (text) => new Base64Decoder().push(octets(text)) },
  { name: 'decodeStream quoted-printable', parse: (text) => drained(decodeStream(once(text), 'quoted-printable')) },
  { name: 'decodeStream base64', parse: (text) => drained(decodeStream(once(text), 'base64')) },
  ...['', 'utf-8', 'utf-7', 'iso-2022-jp', 'gb18030', 'windows-1252'].map((charset) => ({
    name: `decodeCharset ${charset}`,
    parse: (text: string) => decodeCharset(octets(text), charset),
  })),
  { name: 'decodeWithProblem', parse: (text) => decodeWithProblem(octets(text), 'utf-8') },
  { name: 'guessLatin1', parse: guessLatin1 },
  { name: 'rewriteSubmittedHeader', parse: (text) => rewriteSubmittedHeader(octets(text), { date: 'x' }) },
  { name: 'LineEndNormalizer', parse: (text) => new LineEndNormalizer().push(octets(text)) },
  {
    name: 'MessageFactsReader',
    parse: (text) => {
      const reader = new MessageFactsReader();
      reader.push(octets(text));
      return reader.end();
    },
  },
  { name: 'indexMessage', parse: (text) => indexMessage(octets(text)) },
  { name: 'SecretLinkForms', parse: (text) => LINKS.in(`http://a.test/b?${text}`) },
  { name: 'SecretLinkScanner', parse: (text) => indexMessage(octets(`\r\ntoken${text}`), LINKS) },
  { name: 'withoutLinks', parse: withoutLinks },
  {
    name: 'indexMessage of a multipart',
    parse: (text) => indexMessage(octets(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${text}`)),
  },
  {
    name: 'indexMessage of header values',
    parse: (text) =>
      indexMessage(octets(`Subject: ${text}\r\nContent-Type: ${text}\r\nTo: ${text}\r\nReferences: ${text}`)),
  },
  { name: 'readMessage', parse: (text) => readMessage(octets(text), parts(text, 'text', 'html')) },
  { name: 'textEntity', parse: textEntity },
  { name: 'textLines', parse: textLines },
  { name: 'encodeQuotedPrintable', parse: (text) => encodeQuotedPrintable(octets(text)) },
  { name: 'composeMessage', parse: (html) => composeMessage({ ...LETTER, html }) },
  { name: 'headerTexts', parse: (text) => headerTexts(octets(`Subject: ${text}`)) },
  { name: 'partTexts', parse: (text) => partTexts(() => octets(text), parts(text, 'text', 'html')) },
  { name: 'readTerms', parse: readTerms },
  {
    name: 'boundTerms',
    parse: (text) => boundTerms(text.split(' ').map((word) => ({ words: [word], prefix: false }))),
  },
  { name: 'findTerms', parse: (text) => [...findTerms([term], tokensOf(text))], most: 65_536 },
  { name: 'highlight', parse: (text) => highlight(text, [term]), most: 65_536 },
  { name: 'highlightPart', parse: (text) => highlightPart(text, [term], 255), most: 65_536 },
  { name: 'tokensOf', parse: tokensOf, most: MAX_SEARCHED_CHARS },
  { name: 'segment', parse: segment, most: MAX_SEARCHED_CHARS },
  { name: 'fold', parse: fold, most: MAX_SEARCHED_CHARS },
  { name: 'readReport', parse: partOf },
  { name: 'readReport in words', parse: (text) => readReport(octets(text), parts(text, 'text', 'plain')) },
  { name: 'statusFor', parse: (text) => statusFor({ kind: 'words', text: `5.1.1 ${text}` }, 'a@b'), most: 16_384 },
  {
    name: 'quotedSenders',
    parse: (text) => {
      const { data, all } = report('feedback-report', `Original-Mail-From: ${text}`);
      return quotedSenders(data, all);
    },
    most: 262_144,
  },
  { name: 'readMdn', parse: (text) => readMdn(report('disposition-notification', `Disposition: ${text}`).data) },
  {
    name: 'copyOfReportAddress',
    parse: (text) => copyOfReportAddress({ local: text, domain: 'b' }, createSecretKey(key)),
  },
  { name: 'isMailboxLevel', parse: isMailboxLevel },
];

/** The text as the value of every field that a word is looked for in. */
function fields(text: string): ReturnType<typeof readFields> {
  const names = ['auto-submitted', 'precedence', 'x-auto-response-suppress', 'delivered-to'];
  return ['content-type', 'content-disposition', 'content-id', ...names].map((name) => ({
    name,
    value: text,
    start: 0,
    end: text.length,
  }));
}

const LANGUAGES: Parser[] = [
  { name: 'parseMail', parse: (text) => parseMail(`FROM:<a@b> ${text}`) },
  { name: 'parseMail of a path', parse: (text) => parseMail(`FROM:${text}`) },
  { name: 'parseRcpt', parse: (text) => parseRcpt(`TO:<a@b> ${text}`) },
  { name: 'parseRcpt of a path', parse: (text) => parseRcpt(`TO:<"${text}"@b>`) },
  { name: 'readPath', parse: readPath },
  { name: 'readParameters', parse: readParameters },
  { name: 'parseHelo', parse: parseHelo },
  { name: 'parseBdat', parse: parseBdat },
  { name: 'decodeXtext', parse: decodeXtext },
  { name: 'decodeBase64', parse: decodeBase64 },
  { name: 'LineReader', parse: lines },
  { name: 'DataReader', parse: (text) => new DataReader().read(octets(text)) },
  { name: 'ReplyReader', parse: (text) => new ReplyReader().push(octets(`250 ${text}\n`)) },
  { name: 'CommandReader', parse: commands },
  { name: 'Decoder string', parse: (text) => imap(`"${text}`, (d) => d.astring()) },
  { name: 'Decoder list', parse: (text) => imap(`(${text}`, (d) => d.list((one) => one.astring())) },
  { name: 'Decoder flags', parse: (text) => imap(text, (d) => d.flags()) },
  { name: 'Decoder sequence', parse: (text) => imap(`1${text}`, (d) => d.sequenceSet()) },
  { name: 'Decoder mailbox', parse: (text) => imap(text, (d) => d.mailbox()) },
  { name: 'Decoder pattern', parse: (text) => imap(text, (d) => d.listMailbox()) },
  { name: 'parseSearch', parse: (text) => imap(`SUBJECT "a" ${text}`, parseSearch) },
  { name: 'parseFetch', parse: (text) => imap(`BODY[HEADER.FIELDS (${text}`, (d) => parseFetch(d, false)) },
  { name: 'literalMarker', parse: (text) => literalMarker(octets(text)) },
  { name: 'tagOf', parse: (text) => tagOf(octets(text)) },
  { name: 'fromUtf7', parse: fromUtf7 },
  { name: 'toUtf7', parse: toUtf7, most: 10_000 },
  { name: 'canonicalName', parse: canonicalName },
  { name: 'patternMatcher', parse: (text) => patternMatcher(text)('INBOX/a/b'), most: 65_536 },
  { name: 'textOf', parse: (text) => textOf(octets(text)) },
  { name: 'parseDateTime', parse: parseDateTime },
  { name: 'parseDate of IMAP', parse: parseImapDate },
  { name: 'headerFacts', parse: (text) => headerFacts(octets(`Subject: ${text}`)).anywhere('b') },
  {
    name: 'bodyFacts',
    parse: (text) => bodyFacts(octets(text), { parts: indexMessage(octets('\r\n')).parts, offset: 0, texts: ['B'] }),
  },
  { name: 'plainText', parse: plainText },
  { name: 'readJson', parse: (text) => caught(() => readJson(Buffer.from(text))) },
  {
    name: 'readJson of a text',
    parse: (text) => caught(() => readJson(Buffer.from(JSON.stringify({ [text]: text })))),
  },
  { name: 'evaluate', parse: (text) => caught(() => evaluate({ a: [] }, `/a/${text}`)) },
  { name: 'mediaType', parse: mediaType },
  { name: 'readHeaderProperty', parse: (text) => readHeaderProperty(`header:${text}`) },
  { name: 'parseClientFirst', parse: (text) => parseClientFirst(`n,a=${text},n=a,r=b`), most: 12_288 },
  { name: 'parseClientFinal', parse: (text) => parseClientFinal(`c=biws,r=${text},p=a`), most: 12_288 },
  { name: 'originalSender', parse: (text) => originalSender({ local: `srs0=${text}`, domain: 'b' }, key, 0) },
  { name: 'looksRewritten', parse: isSrsLocalPart },
  {
    name: 'guardForward',
    parse: (text) => checkForward({ nullSender: false, fields: fields(text), source: 'a@b', key }),
  },
  { name: 'readStsPolicy', parse: readStsPolicy, most: 65_536 },
  { name: 'readStsPolicy of a field', parse: (text) => readStsPolicy(`mode: ${text}`), most: 65_536 },
  { name: 'readStsRecord', parse: (text) => readStsRecord([`v=STSv1; id=${text}`]), most: 65_535 },
  { name: 'readOffers', parse: (text) => parseExtensions(['x', text, `LIMITS ${text}`, `AUTH ${text}`]), most: 65_536 },
  { name: 'classOf', parse: (text) => classifyReply({ status: '5.0.0', text: `mailbox ${text}` }) },
  { name: 'resultsServer', parse: (text) => leadingAuthserv(`Authentication-Results: ${text}`) },
  {
    name: 'withoutResultsOf',
    parse: (text) => drained(removeForgedResults('mx.example', once(`Authentication-Results: ${text}\r\n\r\n`))),
  },
  { name: 'withoutResultsOf a header', parse: (text) => drained(removeForgedResults('mx.example', once(text))) },
  { name: 'selectFields', parse: (text) => selectFields(readFields(text)) },
];

const APPLIANCE: Parser[] = [
  { name: 'parseBounded', parse: parseBounded },
  { name: 'parseBounded of a text', parse: (text) => parseBounded(JSON.stringify({ a: text })) },
  {
    name: 'readMessage of MCP',
    parse: (text) => readRpc(JSON.stringify({ jsonrpc: '2.0', method: text, params: { text } })),
  },
  { name: 'readMailbox', parse: readMailbox },
  { name: 'readMailbox with a name', parse: (text) => readMailbox(`${text.slice(0, 480)} <a@b.example>`) },
  {
    name: 'judgeWebhookUrl',
    parse: (text) =>
      checkWebhookUrl(`https://a.example/${text}`, { all: false, networks: [], endpoints: [] }, RESOLVER as Resolver),
  },
  { name: 'readUnsubscribe', parse: (text) => readUnsubscribe(key, text) },
  { name: 'safeName', parse: (text) => safeName(text, { path: '1', subtype: text }) },
  { name: 'parseSpf', parse: (text) => parseSpf(`v=spf1 ${text}`), most: 65_535 },
  { name: 'spfTexts', parse: (text) => spfTexts([`v=spf1${text}`]), most: 65_535 },
];

function caught(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

/** Everything of ours that reads what a peer wrote. */
export const PARSERS: readonly Parser[] = [...MESSAGE, ...LANGUAGES, ...JUDGING, ...APPLIANCE];
