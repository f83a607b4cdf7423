import { describe, expect, test } from 'vitest';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { searchResponse } from '../../../mail/imap/search/response.ts';
import { bindSearch, mergeUids } from '../../../mail/imap/search/bind.ts';
import { matchByFlags } from '../../../mail/imap/search/candidates.ts';
import { evaluateCandidates, searchMailbox } from '../../../mail/imap/search/evaluate.ts';
import type { MessageRowFacts, SearchRow, SearchSource } from '../../../mail/imap/search/search-source.ts';
import { headerFacts } from '../../../mail/imap/search/message-text.ts';
import { parseSearch } from '../../../mail/imap/search/parse.ts';
import { plainText } from '../../../mail/imap/search/plain-text.ts';
import type { SearchCommand, SearchProgram } from '../../../mail/imap/search/program.ts';
import { Decoder } from '../../../mail/imap/wire/decoder.ts';
import { ImapSyntaxError } from '../../../mail/imap/wire/syntax-error.ts';
import { casemap } from '../../../mail/message/subject.ts';
import { costRatio, growth, PROPORTIONAL } from '../../support/cost.ts';

const parse = (text: string): SearchCommand => parseSearch(new Decoder(Buffer.from(text)));

function programOf(text: string): SearchProgram {
  const command = parse(text);
  if (command.kind !== 'search') throw new Error('not a search');
  return command.program;
}

/** The single key of a program. */
function keyOf(text: string): unknown {
  const program = programOf(text);
  return program.key === 'and' && program.of.length === 1 ? program.of[0] : program;
}

describe('search keys', () => {
  const seen = { key: 'flag', bit: 1 };
  test.each([
    ['ALL', { key: 'all' }],
    ['seen', seen],
    ['UNSEEN', { key: 'not', of: seen }],
    ['ANSWERED', { key: 'flag', bit: 2 }],
    ['FLAGGED', { key: 'flag', bit: 4 }],
    ['DRAFT', { key: 'flag', bit: 8 }],
    ['DELETED', { key: 'flag', bit: 16 }],
    ['UNANSWERED', { key: 'not', of: { key: 'flag', bit: 2 } }],
    ['NEW', { key: 'and', of: [{ key: 'recent' }, { key: 'not', of: { key: 'flag', bit: 1 } }] }],
    ['RECENT', { key: 'recent' }],
    ['OLD', { key: 'not', of: { key: 'recent' } }],
    ['KEYWORD $Work', { key: 'keyword', name: '$work' }],
    ['UNKEYWORD x', { key: 'not', of: { key: 'keyword', name: 'x' } }],
    [
      '1:3,*',
      {
        key: 'seq',
        set: [
          { from: 1, to: 3 },
          { from: 0, to: 0 },
        ],
      },
    ],
    ['*', { key: 'seq', set: [{ from: 0, to: 0 }] }],
    ['UID 1:*', { key: 'uid', set: [{ from: 1, to: 0 }] }],
    ['LARGER 10', { key: 'larger', size: 10 }],
    ['SMALLER 0', { key: 'smaller', size: 0 }],
    ['BEFORE 2-Jan-1970', { key: 'received', when: 'before', day: 1 }],
    ['ON "2-Jan-1970"', { key: 'received', when: 'on', day: 1 }],
    ['SINCE 2-Jan-1970', { key: 'received', when: 'since', day: 1 }],
    ['SENTBEFORE 2-Jan-1970', { key: 'sent', when: 'before', day: 1 }],
    ['SENTON 2-Jan-1970', { key: 'sent', when: 'on', day: 1 }],
    ['SENTSINCE 2-Jan-1970', { key: 'sent', when: 'since', day: 1 }],
    ['OLDER 60', { key: 'older', seconds: 60 }],
    ['YOUNGER 60', { key: 'younger', seconds: 60 }],
    ['FROM joe', { key: 'header', field: 'from', text: 'joe' }],
    ['BCC "a b"', { key: 'header', field: 'bcc', text: 'a b' }],
    ['HEADER Message-ID {3}\r\n<a>', { key: 'header', field: 'message-id', text: '<a>' }],
    ['HEADER X-Foo ""', { key: 'header', field: 'x-foo', text: '' }],
    ['CHARSET UTF-8 SUBJECT "größe"', { key: 'header', field: 'subject', text: 'größe' }],
    ['charset us-ascii TEXT x', { key: 'text', text: 'x' }],
    ['BODY größe', { key: 'body', text: 'größe' }],
    ['NOT SEEN', { key: 'not', of: seen }],
    ['NOT NOT SEEN', { key: 'not', of: { key: 'not', of: seen } }],
    ['OR SEEN ALL', { key: 'or', of: [seen, { key: 'all' }] }],
    ['OR SEEN OR ALL 1', { key: 'or', of: [seen, { key: 'all' }, { key: 'seq', set: [{ from: 1, to: 1 }] }] }],
    ['OR OR SEEN ALL ALL', { key: 'or', of: [{ key: 'or', of: [seen, { key: 'all' }] }, { key: 'all' }] }],
    [
      'OR (SEEN ALL) NOT ALL',
      {
        key: 'or',
        of: [
          { key: 'and', of: [seen, { key: 'all' }] },
          { key: 'not', of: { key: 'all' } },
        ],
      },
    ],
    ['(SEEN)', { key: 'and', of: [seen] }],
    ['SEEN ALL ', { key: 'and', of: [seen, { key: 'all' }] }],
  ])('%s', (text, key) => {
    expect(keyOf(text)).toEqual(key);
    expect(structuredClone(programOf(text))).toEqual(programOf(text));
  });

  test.each([
    '', ' ', 'FOO', 'SEEN  ALL', '(SEEN', 'SEEN)', '()', '(SEEN )', 'NOT', 'OR SEEN', 'OR SEEN OR ALL', 'KEYWORD', 'KEYWORD \\Seen', '0', '1:', 'UID', 'UID x',
    'LARGER', 'LARGER -1', 'LARGER x', 'BEFORE', 'BEFORE 1-Foo-2020', 'ON 2020-01-01', 'OLDER 0', 'HEADER X', 'SUBJECT', 'SUBJECT (', 'SUBJECT "x',
    'CHARSET UTF-8', 'RETURN (FOO) ALL', 'RETURN (MIN)', 'RETURN MIN ALL', 'RETURN (MIN MAX ALL', 'RETURN (ALL)SEEN', 'toString', '__proto__', 'RETURN (PARTIAL) ALL', 'RETURN (PARTIAL 1) ALL', 'RETURN (PARTIAL 1:*) ALL', 'RETURN (PARTIAL 0:5) ALL', 'RETURN (PARTIAL 1:-5) ALL', 'RETURN (PARTIAL -1:5) ALL', 'RETURN (PARTIAL 1:5 ALL) ALL', 'RETURN (PARTIAL 1:5 PARTIAL 1:6) ALL', 'FUZZY',
  ])('refused: %s', (text) => {
    expect(() => parse(text)).toThrow(ImapSyntaxError);
  }); // prettier-ignore

  test.each([
    ['ALL', undefined],
    ['RETURN () ALL', { options: ['ALL'] }],
    ['RETURN (MIN max COUNT MIN) ALL', { options: ['MIN', 'MAX', 'COUNT'] }],
    ['return (ALL) CHARSET UTF-8 ALL', { options: ['ALL'] }],
    ['RETURN (PARTIAL 1:500) ALL', { options: ['PARTIAL'], partial: { from: 1, to: 500 } }],
    ['RETURN (PARTIAL -1:-100 COUNT) ALL', { options: ['PARTIAL', 'COUNT'], partial: { from: -1, to: -100 } }],
    ['RETURN (partial 9:3) ALL', { options: ['PARTIAL'], partial: { from: 3, to: 9 } }],
    ['RETURN (SAVE UPDATE CONTEXT RELEVANCY) ALL', { options: ['SAVE', 'UPDATE', 'CONTEXT', 'RELEVANCY'] }],
  ])('%s returns %j', (text, returns) => {
    expect(parse(text)).toMatchObject({ kind: 'search', returns });
  });

  test.each([
    'CHARSET KOI9 SUBJECT "x"',
    'CHARSET "iso-8859-99" FOO',
    'RETURN (ALL) CHARSET x',
    `CHARSET ${'utf-8'.repeat(1000)} ALL`,
  ])('bad charset: %s', (text) => {
    const d = new Decoder(Buffer.from(text));
    expect(parseSearch(d)).toMatchObject({ kind: 'bad-charset' });
    d.end();
  });

  test.each([
    ['NOT', `${'NOT '.repeat(10_000)}ALL`],
    ['OR on the left', `${'OR '.repeat(5000)}ALL ${'ALL '.repeat(5000)}`],
    ['OR on the right', `${'OR ALL '.repeat(10_000)}ALL`],
    ['parentheses', `${'('.repeat(10_000)}ALL${')'.repeat(10_000)}`],
    ['a row of them', 'ALL '.repeat(10_000)],
    ['sets that only the session knows', 'MODSEQ 1 '.repeat(3) + 'UID $ OR $ $ '],
    ['texts in bodies', 'OR BODY x '.repeat(51) + 'OR TEXT x '.repeat(50) + 'ALL'],
  ])('too much of %s', (_what, text) => {
    expect(() => parse(text)).toThrow(ImapSyntaxError);
  });

  test('as many alternatives as clients write', () => {
    expect(keyOf(`${'OR SUBJECT x '.repeat(500)}SEEN`)).toMatchObject({ key: 'or', of: { length: 501 } });
  });
});

const UIDS = Uint32Array.of(2, 4, 6, 8, 99);

describe('binding to the numbers of a session', () => {
  test.each([
    [
      '1:2,4',
      [
        [2, 4],
        [8, 8],
      ],
    ],
    ['*', [[8, 8]]],
    ['3:9', [[6, 8]]],
    ['9:*', [[8, 8]]],
    ['*:9', [[8, 8]]],
    ['5', []],
    ['1,2,9', [[2, 4]]],
    ['UID 3:7', [[4, 6]]],
    ['UID *', [[8, 8]]],
    ['UID 50:*', [[8, 8]]],
    ['UID 3', []],
  ])('%s', (text, ranges) => {
    const program = bindSearch(programOf(text), UIDS, 4);
    expect(program).toEqual({ key: 'and', of: [{ key: 'uid', set: ranges.map(([from, to]) => ({ from, to })) }] });
  });

  test('inside of other keys, and in an empty mailbox', () => {
    const never = { key: 'uid', set: [] };
    expect(bindSearch(programOf('NOT (OR 1:* UID 1:* SEEN)'), UIDS, 0)).toEqual({
      key: 'and',
      of: [
        {
          key: 'not',
          of: {
            key: 'and',
            of: [
              { key: 'or', of: [never, never] },
              { key: 'flag', bit: 1 },
            ],
          },
        },
      ],
    });
  });
});

interface Mail {
  uid: number;
  bits?: number;
  keywords?: string[];
  at?: number;
  text: string;
}

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 20, 12);

const MAILS: Mail[] = [
  {
    uid: 2,
    bits: 1,
    keywords: ['Work'],
    at: NOON - 10 * DAY,
    text: 'From: Ann <ann@box.test>\r\nTo: bob@box.test\r\nSubject: Plain one\r\nDate: Tue, 10 Nov 2026 23:30:00 -0800\r\n\r\nThe quick brown fox\r\n',
  },
  {
    uid: 4,
    keywords: ['work', '$Junk'],
    at: NOON,
    text:
      'From: =?utf-8?q?J=C3=BCrgen?= <j@box.test>\r\nSubject: =?iso-8859-1?q?Gr=F6=DFe?=\r\n und mehr\r\nX-Empty:\r\n' +
      'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n' +
      `${Buffer.from('Äpfel und Straße').toString('base64')}\r\n`,
  },
  {
    uid: 6,
    bits: 5,
    at: NOON + 1000,
    text:
      'Subject: parts\r\nDate: nonsense\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\nhidden prolog\r\n--x\r\nContent-Type: text/html\r\n\r\n' +
      '<p class="tagged">wo<b>rd</b> caf&eacute; &#8364;5</p>\r\n--x\r\nContent-Type: application/pdf; name="report.pdf"\r\n' +
      'Content-Transfer-Encoding: base64\r\n\r\nc2VjcmV0\r\n--x\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner subject\r\n\r\ninner body\r\n--x--\r\n',
  },
  { uid: 8, bits: 16, at: NOON - 400 * DAY, text: '' },
];

function world(mails: Mail[] = MAILS) {
  const queried = { facts: 0, header: 0, whole: 0 };
  const trace = 'Return-Path: <tracer@x>\r\n';
  const by = new Map(mails.map((mail) => [mail.uid, mail]));
  const octets = (uid: number): Buffer => Buffer.from(trace + (by.get(uid)?.text ?? ''));
  const source: SearchSource = {
    facts: (uids) => {
      queried.facts += uids.length;
      return Promise.resolve(uids.flatMap((uid) => rowOf(by.get(uid), trace)));
    },
    rows: (uids) => uids.flatMap((uid) => rowOf(by.get(uid), trace)),
    header: (row) => {
      queried.header++;
      const { headerLength } = indexMessage(octets(row.uid).subarray(trace.length));
      return octets(row.uid).toString('latin1', 0, trace.length + headerLength);
    },
    whole: (row) => {
      queried.whole++;
      return Promise.resolve(octets(row.uid));
    },
  };
  const view = {
    uids: Uint32Array.from([...mails.map(({ uid }) => uid), 1000]),
    length: mails.length,
    bits: (uid: number) => (by.get(uid)?.bits ?? 0) + 2 ** 40,
    flagNames: (uid: number) => by.get(uid)?.keywords ?? [],
  };
  return { queried, source, view };
}

function rowOf(mail: Mail | undefined, trace: string): (SearchRow & MessageRowFacts)[] {
  if (mail === undefined) return [];
  const { size, sentDay, parts } = indexMessage(Buffer.from(mail.text));
  const traceLength = trace.length;
  return [{ uid: mail.uid, size: size + traceLength, receivedAt: mail.at ?? 0, sentDay, parts, traceLength }];
}

async function find(text: string, mails = MAILS): Promise<number[] | string> {
  const { view, source } = world(mails);
  const program = bindSearch(programOf(text), view.uids, view.length);
  const outcome = await searchMailbox(program, view, source, { now: NOON + 2000 });
  return outcome.kind === 'found' ? [...outcome.uids] : outcome.kind;
}

describe('what a search finds', () => {
  test.each([
    ['ALL', [2, 4, 6, 8]],
    ['SEEN', [2, 6]],
    ['UNSEEN', [4, 8]],
    ['DELETED', [8]],
    ['FLAGGED SEEN', [6]],
    ['NEW', []],
    ['OLD', [2, 4, 6, 8]],
    ['KEYWORD WORK', [2, 4]],
    ['KEYWORD $junk UNKEYWORD none', [4]],
    ['UNKEYWORD work', [6, 8]],
    ['2:3', [4, 6]],
    ['UID 2:3', [2]],
    ['UID 4:*', [4, 6, 8]],
    ['NOT 1', [4, 6, 8]],
    ['OR SEEN DELETED', [2, 6, 8]],
    ['LARGER 25', [2, 4, 6]],
    ['LARGER 24', [2, 4, 6, 8]],
    ['SMALLER 25', []],
    ['SMALLER 26', [8]],
    ['ON 20-Nov-2026', [4, 6]],
    ['BEFORE 20-Nov-2026', [2, 8]],
    ['SINCE 10-Nov-2026', [2, 4, 6]],
    ['SENTON 10-Nov-2026', [2]],
    ['SENTON 11-Nov-2026', []],
    ['SENTBEFORE 1-Jan-2030', [2]],
    ['SENTSINCE 1-Jan-1970', [2]],
    ['OLDER 2', [2, 4, 8]],
    ['YOUNGER 1', [6]],
    ['YOUNGER 2', [4, 6]],
    ['FROM ANN', [2]],
    ['FROM jürgen', [4]],
    ['FROM "Jürgen <j@"', [4]],
    ['TO box.test', [2]],
    ['CC x', []],
    ['SUBJECT größe', [4]],
    ['SUBJECT GRÖSSE', [4]],
    ['SUBJECT "sse und MEHR"', [4]],
    ['SUBJECT "one"', [2]],
    ['HEADER X-EMPTY ""', [4]],
    ['HEADER Subject ""', [2, 4, 6]],
    ['HEADER Return-Path tracer', [2, 4, 6, 8]],
    ['HEADER X-None ""', []],
    ['BODY "QUICK brown"', [2]],
    ['BODY äpfel', [4]],
    ['BODY strasse', [4]],
    ['BODY word', [6]],
    ['BODY café', [6]],
    ['BODY "é €5"', [6]],
    ['BODY tagged', [6]],
    ['BODY report.pdf', [6]],
    ['BODY "inner subject"', [6]],
    ['BODY "inner body"', [6]],
    ['BODY secret', []],
    ['BODY c2VjcmV0', []],
    ['BODY "Plain one"', []],
    ['BODY ""', [2, 4, 6, 8]],
    ['TEXT "plain ONE"', [2]],
    ['TEXT fox', [2]],
    ['TEXT größe', [4]],
    ['TEXT "subject: gr"', [4]],
    ['NOT TEXT fox', [4, 6, 8]],
    ['OR SUBJECT one BODY inner', [2, 6]],
    ['UNSEEN OR SUBJECT one DELETED', [8]],
    ['NOT (OR SEEN SUBJECT größe)', [8]],
  ])('%s', async (text, uids) => {
    expect(await find(text)).toEqual(uids);
  });

  test.each([
    ['SEEN UID 1:*', [0, 0, 0]],
    ['LARGER 1', [4, 0, 0]],
    ['SEEN LARGER 1', [2, 0, 0]],
    ['SUBJECT one', [0, 4, 0]],
    ['TEXT fox SEEN LARGER 100', [2, 2, 2]],
    ['TEXT subject', [0, 4, 1]],
    ['OR SEEN BODY fox', [0, 2, 2]],
    ['BODY fox SUBJECT one', [0, 4, 1]],
  ])('%s looks no further than it must', async (text, [facts, header, whole]) => {
    const { view, source, queried } = world();
    await searchMailbox(bindSearch(programOf(text), view.uids, view.length), view, source, {});
    expect(queried).toEqual({ facts, header, whole });
  });

  test.each([
    ['a fold', 'Subject: the quick\r\n brown fox\r\n\r\n', 'quick brown'],
    ['a blank before the colon', 'Subject : fox\r\n\r\n', 'fox'],
    ['an encoded word', 'Subject: =?utf-8?q?f=6fx?=\r\n\r\n', 'fox'],
    ['another alphabet', 'Subject: =?utf-8?b?0JvQuNGB0LA=?=\r\n\r\n', '\u043b\u0438\u0441\u0430'],
    ['letters of one octet', 'Subject: caf\u00e9\r\n\r\n', 'caf\u00e9'],
    ['a letter that has two capitals', 'Subject: STRASSE\r\n\r\n', 'stra\u00dfe'],
    ['a second field', 'Subject: one\r\nSubject: fox\r\n\r\n', 'fox'],
  ])('a subject with %s is found', (_name, header, text) => {
    expect(headerFacts(Buffer.from(header).toString('latin1')).field('subject', casemap(text))).toBe(true);
    expect(headerFacts(Buffer.from(header).toString('latin1')).field('subject', casemap(`${text}x`))).toBe(false);
  });

  test('the tiers may run on different threads', async () => {
    const { view, source } = world();
    const program = programOf('OR SEEN (KEYWORD work SUBJECT größe)');
    const { found, open } = matchByFlags(program, view.uids, view.length, view);
    expect([...found]).toEqual([2, 6]);
    const rest = await evaluateCandidates(structuredClone(program), structuredClone(open), source);
    expect(rest).toEqual({ kind: 'found', uids: Uint32Array.of(4) });
    expect([...mergeUids(found, Uint32Array.of(4))]).toEqual([2, 4, 6]);
  });

  test.each([
    ['ALL', true],
    ['ALL (ALL ALL)', true],
    ['ALL SEEN', false],
    ['NOT ALL', false],
    ['OR ALL UID 1', false],
  ])('%s decides without looking at flags: %s', (text, isAll) => {
    const looked: number[] = [];
    const facts = { bits: (uid: number) => looked.push(uid), flagNames: () => [] };
    const known = Uint32Array.of(1, 3, 7, 9);
    const { found, open } = matchByFlags(programOf(text), known, 3, facts);
    expect(looked).toEqual(isAll ? [] : [1, 3, 7]);
    if (isAll) expect([[...found], open.uids.length]).toEqual([[1, 3, 7], 0]);
    // The view appends to its list meanwhile.
    if (isAll) expect(found.buffer).not.toBe(known.buffer);
  });

  test('more keywords than fit an octet', async () => {
    const words = Array.from({ length: 20 }, (_, i) => `k${i}`);
    const mails = words.map((word, i) => ({ uid: i + 1, keywords: [word], text: 'Subject: x\r\n\r\n' }));
    expect(await find(`SUBJECT x ${words.map((word) => `OR KEYWORD ${word} `).join('')}NEW`, mails)).toHaveLength(20);
    expect(await find('SUBJECT x KEYWORD K13', mails)).toEqual([14]);
  });

  test('messages that go away meanwhile match nothing', async () => {
    const { view, source } = world();
    const gone = { ...view, uids: Uint32Array.of(2, 3, 4), length: 3 };
    const outcome = await searchMailbox(programOf('LARGER 1'), gone, source, {});
    expect(outcome).toEqual({ kind: 'found', uids: Uint32Array.of(2, 4) });
  });

  test('a search ends when its time is over', async () => {
    const { view, source } = world();
    let now = 0;
    const clock = (): number => (now += 100);
    expect(await searchMailbox(programOf('BODY nothing'), view, source, { clock, limitMs: 350 })).toEqual({
      kind: 'too-long',
    });
    expect(await searchMailbox(programOf('BODY nothing'), view, source, { clock, limitMs: 100_000 })).toMatchObject({
      kind: 'found',
    });
  });

  const manyParts = (count: number, words = 'words of é'): Mail => {
    const part = `--x\r\nContent-Type: message/rfc822\r\n\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${words}\r\n`;
    return { uid: 1, text: `Content-Type: multipart/mixed; boundary=x\r\n\r\n${part.repeat(count)}--x--\r\n` };
  };
  const bodyKeys = (count: number): string =>
    `${Array.from({ length: count - 1 }, (_, n) => `OR BODY none${n} `).join('')}BODY none`;

  test('the parts of a message are decoded once for all keys', async () => {
    const mails = [manyParts(50, 'é '.repeat(2_000))];
    const ratio = await costRatio(
      () => find(bodyKeys(2), mails),
      () => find(bodyKeys(100), mails),
    );
    expect(ratio).toBeLessThan(5);
  });

  test('a search gives way inside of a message, and ends there when its time is over', async () => {
    const { view, source } = world([manyParts(300)]);
    let [turns, now] = [0, 0];
    const yielding = { ...source, pause: () => Promise.resolve(void turns++) };
    const program = programOf('BODY nothing');
    expect(await searchMailbox(program, view, yielding)).toMatchObject({ kind: 'found' });
    expect(turns).toBeGreaterThan(300);
    turns = 0;
    const options = { clock: () => (now += 1), limitMs: 100 };
    expect(await searchMailbox(program, view, yielding, options)).toEqual({ kind: 'too-long' });
    expect(turns).toBeLessThan(110);
  });

  test('a search gives way between messages that their headers decide', async () => {
    const { view, source } = world(
      Array.from({ length: 1_000 }, (_, n) => ({ uid: n + 1, text: 'Subject: x\r\n\r\n' })),
    );
    let turns = 0;
    const yielding = { ...source, pause: () => Promise.resolve(void turns++) };
    expect(await searchMailbox(programOf('HEADER X-None y'), view, yielding)).toMatchObject({ kind: 'found' });
    expect(turns).toBe(5);
  });

  test('text at the seam of two windows is found', async () => {
    for (const offset of [262_130, 262_140, 262_144, 524_280]) {
      const text = `Subject: x\r\n\r\n${'ä'.repeat(offset)}needle${'ö'.repeat(1000)}`;
      expect(await find('BODY needle', [{ uid: 1, text }])).toEqual([1]);
    }
  });

  test('what the view alone decides takes time by the messages, not by messages times keys', async () => {
    const length = 30_000;
    const uids = Uint32Array.from({ length }, (_, i) => i + 1);
    const look = (count: number): void => {
      const keys = Array.from({ length: count }, (_, i) => `OR UID ${i * 3 + 400_000} `).join('');
      const { found, open } = matchByFlags(programOf(`${keys}UID 1`), uids, length, {
        bits: () => 0,
        flagNames: () => [],
      });
      expect(found.length + open.uids.length).toBeGreaterThan(0);
    };
    expect(await growth(look, 900)).toBeLessThan(PROPORTIONAL);
  });
});

test('many keywords are looked up once a message, and those that nobody has cost nothing', async () => {
  const length = 20_000;
  const uids = Uint32Array.from({ length }, (_, i) => i + 1);
  const names = ['\\Seen', 'K7'];
  const facts = { bits: () => 1, flagNames: () => names };
  const look = (count: number): void => {
    const keys = Array.from({ length: count }, (_, i) => `OR KEYWORD k${i + 10} `).join('');
    const { open } = matchByFlags(programOf(`${keys}(KEYWORD k7 SUBJECT x)`), uids, length, facts);
    expect([open.uids.length, open.keywords, open.words.length]).toEqual([length, ['k7'], length]);
  };
  const ratio = await costRatio(
    () => look(9),
    () => look(990),
  );
  expect(ratio).toBeLessThan(20);
});

describe('the text of HTML', () => {
  test.each([
    ['a<br>b', 'ab'],
    ['a\n <i>b</i>', 'a b'],
    ['a &amp; b &lt;', 'a & b <'],
    ['&uuml;&Eacute;&szlig;&#228;&#xe4;', 'üÉßää'],
    ['&bogus; &#0; &#99999999; &', '&bogus; \ufffd \ufffd &'],
    ['informaci&oacute;n &Scaron; &mdash; soft&shy;ly', 'información Š — softly'],
    ['a < b', 'a < b'],
    ['a <b', 'a <b'],
    ['&constructor;', '&constructor;'],
  ])('%s', (html, text) => {
    expect(plainText(html)).toBe(text);
  });

  test.each(['<', '<a', '&', '&#', ' ', '<>'])('time grows with the length: %s', async (piece) => {
    const read = (length: number): unknown => plainText(piece.repeat(length / piece.length));
    expect(await growth(read, 1_000_000)).toBeLessThan(PROPORTIONAL);
  });
});

describe('the answer to SEARCH', () => {
  const uids = Uint32Array.of(2, 3, 4, 9);
  test.each([
    [uids, undefined, '* SEARCH 2 3 4 9\r\n'],
    [[], undefined, '* SEARCH\r\n'],
    [uids, ['MIN', 'MAX', 'ALL', 'COUNT'], '* ESEARCH (TAG "a1") UID MIN 2 MAX 9 ALL 2:4,9 COUNT 4\r\n'],
    [[], ['MIN', 'MAX', 'ALL', 'COUNT'], '* ESEARCH (TAG "a1") UID COUNT 0\r\n'],
    [[], ['ALL'], '* ESEARCH (TAG "a1") UID\r\n'],
  ] as const)('%j %j', (found, returns, answer) => {
    const form = { name: 'SEARCH', tag: 'a1', uid: true, returns: returns && { options: returns } } as const;
    expect(searchResponse(form, { numbers: Uint32Array.from(found) })).toBe(answer);
  });

  test('without UID', () => {
    const form = { name: 'SEARCH', tag: 'a1', uid: false, returns: { options: ['ALL'] } } as const;
    expect(searchResponse(form, { numbers: Uint32Array.of(1) })).toBe('* ESEARCH (TAG "a1") ALL 1\r\n');
  });
});
