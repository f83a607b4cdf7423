import { parseFetchModifiers } from '../../../mail/imap/fetch/modifiers.ts';
import { parseFetch } from '../../../mail/imap/fetch/parse.ts';
import { joinPatterns, parseList } from '../../../mail/imap/list-options.ts';
import { parseGetMetadata, parseSetMetadata } from '../../../mail/imap/metadata.ts';
import { parseQresync } from '../../../mail/imap/qresync.ts';
import { parseRights } from '../../../mail/imap/rights.ts';
import { sharedName } from '../../../mail/imap/shared-names.ts';
import { parseImapUrl } from '../../../mail/imap/url/imap-url.ts';
import { roleOf } from '../../../mail/imap/special-use.ts';
import { ThreadColumns } from '../../../mail/imap/search/columns/thread-columns.ts';
import { isPlainHeader, lackOf, letterRuns } from '../../../mail/imap/search/lacks-texts.ts';
import { bodyFacts, fieldTexts, headerFacts } from '../../../mail/imap/search/message-text.ts';
import { parseSearch, parseSort, parseThread } from '../../../mail/imap/search/parse.ts';
import { plainText } from '../../../mail/imap/search/plain-text.ts';
import { parseNotify } from '../../../mail/imap/notify/event-groups.ts';
import { parseSource, parseSources } from '../../../mail/imap/search/sources.ts';
import { AFTER_LOGIN, CommandReader } from '../../../mail/imap/wire/command-reader.ts';
import { parseImapDate, parseDateTime } from '../../../mail/imap/wire/dates.ts';
import { Decoder } from '../../../mail/imap/wire/decoder.ts';
import { flagList, mailbox, string } from '../../../mail/imap/wire/encoder.ts';
import { flagSet } from '../../../mail/imap/wire/flags.ts';
import { literalMarker, tagOf } from '../../../mail/imap/wire/literal-marker.ts';
import { canonicalName, fromUtf7, patternMatcher, toUtf7 } from '../../../mail/imap/wire/mailbox-name.ts';
import { seqIndexes, uidIndexes } from '../../../mail/imap/wire/sequence-set.ts';
import { textOf } from '../../../mail/imap/wire/text.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { isReplySubject } from '../../../mail/message/subject.ts';
import { caught, type CostRow, costs, driven, octets } from './row.ts';

const UIDS = Uint32Array.from({ length: 10_000 }, (_, n) => n * 3 + 1);

function imap(text: string, read: (d: Decoder) => unknown): unknown {
  return caught(() => read(new Decoder(octets(text))));
}

function commands(text: string): number {
  const reader = new CommandReader(AFTER_LOGIN);
  let events = 0;
  reader.push(octets(text));
  while (reader.next() !== undefined) events += 1;
  return events;
}

function searchedBody(text: string): unknown {
  return bodyFacts(octets(text), { parts: indexMessage(octets('\r\n')).parts, offset: 0, texts: ['B'] });
}

function lackedMessage(text: string): unknown {
  return lackOf(['ZEBRAFINCH'])?.(
    { text: `From: ${text}`, headerLength: 6 + text.length },
    { parts: '[]', traceLength: 0 },
  );
}

const WIRE = costs(
  {
    at: 'mail/imap/wire',
    input: 'command of an IMAP client',
    bound: 'line of 64 KiB, literal of 1 MiB',
    thread: 'main',
  },
  {
    CommandReader: commands,
    'Decoder: string': (text) => imap(`"${text}`, (d) => d.astring()),
    'Decoder: list': (text) => imap(`(${text}`, (d) => d.list((one) => one.astring())),
    'Decoder: flags': (text) => imap(text, (d) => d.flags()),
    'Decoder: sequence': (text) => imap(`1${text}`, (d) => d.sequenceSet()),
    'Decoder: mailbox': (text) => imap(text, (d) => d.mailbox()),
    'Decoder: pattern': (text) => imap(text, (d) => d.listMailbox()),
    'Decoder: date and time': (text) => imap(`"${text}`, (d) => d.dateTime()),
    'Decoder: number': (text) => imap(`1${text}`, (d) => d.number64()),
    literalMarker: (text) => literalMarker(octets(text)),
    tagOf: (text) => tagOf(octets(text)),
    parseImapUrl: driven((text) => parseImapUrl(`/a${text}/;UID=1`), {
      at: 'mail/imap/url',
      input: 'URL of CATENATE',
      bound: '8 KiB, 200 in one message',
      worst: ['/;UID=1', ';UIDVALIDITY=1', '/;SECTION=1', '%41', 'imap://a@b/'],
    }),
    textOf: (text) => textOf(octets(text)),
    parseDateTime,
    parseImapDate,
    flagSet: (text) => flagSet(text.split(' ')),
    flagList: (text) => flagList(text.split(' ')),
    string,
    uidIndexes: driven((text) => imap(`1${text}`, (d) => uidIndexes(d.sequenceSet(), UIDS, UIDS.length)), {
      worst: [',1:*', ',*:1', ',5'],
    }),
    seqIndexes: driven((text) => imap(`1${text}`, (d) => seqIndexes(d.sequenceSet(), UIDS.length)), {
      worst: [',1:*', ',*:1', ',5'],
    }),
  },
);

const MAILBOXES = costs(
  {
    at: 'mail/imap/wire',
    input: 'mailbox name or pattern',
    bound: 'names of 1,000 octets with 50 levels',
    thread: 'main',
  },
  {
    fromUtf7,
    toUtf7: driven(toUtf7, { most: 10_000 }),
    canonicalName,
    mailbox: (text) => mailbox(text),
    patternMatcher: driven((text) => patternMatcher(text)('INBOX/a/b'), {
      bound: '100 patterns, 4,000 characters with their reference; in turns',
      most: 65_536,
      worst: ['*a', '%a', '*%', '*/', '%/'],
    }),
    joinPatterns: driven((text) => caught(() => joinPatterns(text, text.split(' '))), {
      at: 'mail/imap',
      bound: '100 patterns, 4,000 characters with their reference',
    }),
    parseList: driven((text) => imap(` "" (${text}`, parseList), { at: 'mail/imap', bound: '100 patterns' }),
    'parseList: metadata': driven((text) => imap(` "" % RETURN (METADATA (${text}`, parseList), {
      at: 'mail/imap',
      bound: '100 entries of 255 characters',
    }),
    parseGetMetadata: driven((text) => imap(` INBOX (${text}`, parseGetMetadata), {
      at: 'mail/imap',
      input: 'GETMETADATA',
      bound: '100 entries of 255 characters',
      worst: ['/a ', '/private/a ', '"/a" '],
    }),
    parseSetMetadata: driven((text) => imap(` INBOX (${text}`, parseSetMetadata), {
      at: 'mail/imap',
      input: 'SETMETADATA',
      bound: '100 entries, command of 1 MiB',
      worst: ['/private/a "b" ', '/private/vendor/a/b NIL '],
    }),
    'parseList: options': driven((text) => imap(` (${text}`, parseList), { at: 'mail/imap', bound: '100 patterns' }),
    sharedName: driven(sharedName, { at: 'mail/imap' }),
    parseRights: driven(parseRights, { at: 'mail/imap', input: 'SETACL', bound: 'command of 1 MiB' }),
    roleOf: driven(roleOf, { at: 'mail/imap' }),
  },
);

function ambiguous(text: string): boolean {
  const refs = new Uint8Array(BigInt64Array.of(1n, 2n, 3n).buffer);
  return ThreadColumns.isAmbiguous({ uid: 1, refs, subject: '', baseSubject: '', envelope: `("${text}" "<id@b>")` });
}

const SEARCH = costs(
  { at: 'mail/imap/search', input: 'SEARCH', bound: '2,000 keys, 100 of them BODY or TEXT; 10 s', thread: 'main' },
  {
    parseSearch: driven((text) => imap(`SUBJECT "a" ${text}`, parseSearch), {
      worst: ['OR ', 'NOT ', 'OR (', 'UID 1,2,3 ', 'KEYWORD a ', 'HEADER a b ', 'SUBJECT "a" ', 'BODY a '],
    }),
    'parseSearch: returns': (text) => imap(`RETURN (${text}`, parseSearch),
    'parseSearch: charset': (text) => imap(`CHARSET ${text}`, parseSearch),
    parseSort: driven((text) => imap(`(${text}) UTF-8 ALL`, parseSort), {
      input: 'SORT',
      worst: ['DATE ', 'REVERSE DATE ', 'REVERSE ', 'SUBJECT FROM '],
    }),
    parseThread: driven((text) => imap(`REFERENCES UTF-8 ${text}`, parseThread), { input: 'THREAD' }),
    parseSources: driven((text) => imap(`(mailboxes (${text}`, parseSources), {
      input: 'ESEARCH',
      bound: '50 sources of 200 names',
      worst: ['a ', 'a/b ', '"a" '],
    }),
    'parseSources: sources': driven((text) => imap(`(${text}`, parseSources), {
      input: 'ESEARCH',
      bound: '50 sources of 200 names',
      worst: ['personal ', 'subtree a ', 'mailboxes (a b) '],
    }),
    parseSource: driven((text) => imap(`(${text}`, (d) => parseSource(d, 'MAILBOXES')), {
      input: 'ESEARCH and NOTIFY',
      bound: '200 names',
      worst: ['a ', 'a/b ', '"a" '],
    }),
    parseNotify: driven((text) => imap(` SET (mailboxes (${text}`, parseNotify), {
      at: 'mail/imap/notify',
      input: 'NOTIFY',
      bound: '50 groups of 200 names',
      worst: ['a ', 'a) (MessageNew MessageExpunge)) (personal (', '"a" '],
    }),
    fieldTexts: driven((text) => fieldTexts(`From: ${text}`, ['from']), {
      input: 'header searched by IMAP SEARCH',
      bound: 'header limit of 256 KiB',
      thread: 'reader, in turns',
      worst: ['a (b) <c@d>, ', '(', '"a" ', ' @ ', '\r\n\t'],
    }),
    isAmbiguous: driven(ambiguous, {
      at: 'mail/imap/search/columns',
      input: 'ENVELOPE of a message threaded by IMAP THREAD',
      bound: 'structure limit of 768 KiB',
      thread: 'reader, in turns',
      worst: ['\\"', '<a@b> ', '"'],
    }),
    isReplySubject: driven(isReplySubject, {
      at: 'mail/message',
      input: 'subject of a message threaded by IMAP THREAD',
      bound: 'header field of 100 KiB',
      thread: 'reader, in turns',
      worst: ['Re: ', '[a] ', '[Fwd: ', '(fwd)', 'Re[', 'Fwd [a]: '],
    }),
    parseFetch: driven((text) => imap(`BODY[HEADER.FIELDS (${text}`, (d) => parseFetch(d, false)), {
      at: 'mail/imap/fetch',
      input: 'FETCH',
      bound: '200 items, sections of 100 levels',
    }),
    'parseFetch: items': driven((text) => imap(`(${text}`, (d) => parseFetch(d, false)), {
      at: 'mail/imap/fetch',
      input: 'FETCH',
      bound: '200 items, sections of 100 levels',
      worst: ['UID ', 'BODY[1.1.1] ', 'BODY[] ', 'BINARY.SIZE[1] '],
    }),
    parseFetchModifiers: driven((text) => imap(` (CHANGEDSINCE ${text}`, parseFetchModifiers), {
      at: 'mail/imap/fetch',
      input: 'FETCH',
      bound: 'line of 64 KiB',
    }),
    parseQresync: driven((text) => imap(`(1 2 1:3${text}`, parseQresync), {
      at: 'mail/imap',
      input: 'SELECT',
      bound: 'line of 64 KiB',
      worst: [',5', ',7:9', ' (1 1', ',1:4294967295'],
    }),
    headerFacts: driven((text) => headerFacts(`Subject: ${text}`).anywhere('b'), {
      input: 'header searched by IMAP SEARCH',
      bound: 'header limit of 256 KiB',
      thread: 'reader, in turns',
    }),
    bodyFacts: driven(searchedBody, {
      input: 'message searched by IMAP SEARCH',
      bound: '2,000 keys, 100 of them BODY or TEXT; 10 s',
      thread: 'reader, in turns',
    }),
    isPlainHeader: driven((text) => isPlainHeader(`From: ${text}`), {
      input: 'header searched by IMAP SEARCH',
      bound: 'header limit of 256 KiB',
      thread: 'reader, in turns',
      worst: ['"', '" ', '@', '@ ', 'a ', ' ', 'a@', 'a, b@', '\r\n\t', 'a\r\n "'],
    }),
    lackOf: driven(lackedMessage, {
      input: 'message searched by IMAP SEARCH',
      bound: 'message of 64 KiB in ASCII',
      thread: 'reader, in turns',
    }),
    letterRuns: driven(letterRuns, { input: 'text of IMAP SEARCH', bound: '2,000 keys', thread: 'reader, in turns' }),
    plainText: driven(plainText, { input: 'HTML searched by IMAP SEARCH', thread: 'reader, in turns' }),
  },
);

/** Functions that read commands of IMAP clients. */
export const IMAP_COSTS: readonly CostRow[] = [...WIRE, ...MAILBOXES, ...SEARCH];
