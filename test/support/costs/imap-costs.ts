import { parseFetch } from '../../../mail/imap/fetch/parse.ts';
import { joinPatterns, parseList } from '../../../mail/imap/list-options.ts';
import { roleOf } from '../../../mail/imap/special-use.ts';
import { bodyFacts, headerFacts } from '../../../mail/imap/search/message-text.ts';
import { parseSearch } from '../../../mail/imap/search/parse.ts';
import { plainText } from '../../../mail/imap/search/plain-text.ts';
import { AFTER_LOGIN, CommandReader } from '../../../mail/imap/wire/command-reader.ts';
import { parseDate, parseDateTime } from '../../../mail/imap/wire/dates.ts';
import { Decoder } from '../../../mail/imap/wire/decoder.ts';
import { flagList, mailbox, string } from '../../../mail/imap/wire/encoder.ts';
import { flagSet } from '../../../mail/imap/wire/flags.ts';
import { literalMarker, tagOf } from '../../../mail/imap/wire/literal-marker.ts';
import { canonicalName, fromUtf7, patternMatcher, toUtf7 } from '../../../mail/imap/wire/mailbox-name.ts';
import { resolveSeqs, resolveUids } from '../../../mail/imap/wire/sequence-set.ts';
import { textOf } from '../../../mail/imap/wire/text.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
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
    textOf: (text) => textOf(octets(text)),
    parseDateTime,
    parseDate,
    flagSet: (text) => flagSet(text.split(' ')),
    flagList: (text) => flagList(text.split(' ')),
    string,
    resolveUids: driven((text) => imap(`1${text}`, (d) => resolveUids(d.sequenceSet(), UIDS, UIDS.length)), {
      worst: [',1:*', ',*:1', ',5'],
    }),
    resolveSeqs: driven((text) => imap(`1${text}`, (d) => resolveSeqs(d.sequenceSet(), UIDS, UIDS.length)), {
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
    'parseList: options': driven((text) => imap(` (${text}`, parseList), { at: 'mail/imap', bound: '100 patterns' }),
    roleOf: driven(roleOf, { at: 'mail/imap' }),
  },
);

const SEARCH = costs(
  { at: 'mail/imap/search', input: 'SEARCH', bound: '2,000 keys, 100 of them BODY or TEXT; 10 s', thread: 'main' },
  {
    parseSearch: driven((text) => imap(`SUBJECT "a" ${text}`, parseSearch), {
      worst: ['OR ', 'NOT ', 'OR (', 'UID 1,2,3 ', 'KEYWORD a ', 'HEADER a b ', 'SUBJECT "a" ', 'BODY a '],
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
    plainText: driven(plainText, { input: 'HTML searched by IMAP SEARCH', thread: 'reader, in turns' }),
  },
);

/** Functions that read commands of IMAP clients. */
export const IMAP_COSTS: readonly CostRow[] = [...WIRE, ...MAILBOXES, ...SEARCH];
