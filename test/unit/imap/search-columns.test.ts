import { describe, expect, test } from 'vitest';
import { bindSearch } from '../../../mail/imap/search/bind.ts';
import { ColumnCache } from '../../../mail/imap/search/columns/column-cache.ts';
import { FoldedColumn } from '../../../mail/imap/search/columns/folded-column.ts';
import { MailboxColumns } from '../../../mail/imap/search/columns/mailbox-columns.ts';
import { PositionSet } from '../../../mail/imap/search/columns/position-set.ts';
import { matchByFlags, type SearchedView } from '../../../mail/imap/search/candidates.ts';
import { searchMailbox } from '../../../mail/imap/search/evaluate.ts';
import { findMessages } from '../../../mail/imap/search/find.ts';
import type { FindOutcome } from '../../../mail/imap/search/find-order.ts';
import { parseSearch } from '../../../mail/imap/search/parse.ts';
import type { SearchProgram } from '../../../mail/imap/search/program.ts';
import { Decoder } from '../../../mail/imap/wire/decoder.ts';
import { storedInMemory } from '../../support/fake-imap-search.ts';
import { Random } from '../../support/random.ts';

const MESSAGES = 700;
const NAMES = ['Ann', 'Bob (work)', '"Doe, John"', 'Größe', '=?utf-8?q?J=C3=B6rg?='];
const SUBJECTS = ['tea', 'Re: tea', 'stra\u00dfe', '=?utf-8?b?0JvQuNGB0LA=?=', '', 'a\tb', 'tea time'];

/** Messages with many kinds of headers, and one UID of ten expunged. */
function world() {
  const from = new Random(7);
  const random = (): number => from.next();
  const pick = <T>(list: readonly T[]): T => from.one(list);
  const bytes = new Map<number, { bytes: Buffer; receivedAt: number }>();
  const uids: number[] = [];
  const bits: number[] = [];
  for (let uid = 1; uid <= MESSAGES; uid++) {
    if (random() < 0.1) continue;
    const author = `From: ${pick(NAMES)} <p${uid % 7}@b.test>\r\n`;
    const more = random() < 0.2 ? `Subject: ${pick(SUBJECTS)}\r\n` : '';
    const to = random() < 0.5 ? `To: ${pick(NAMES)} <to${uid % 3}@b.test>, cc@b.test\r\n` : '';
    const subject = random() < 0.9 ? `Subject: ${pick(SUBJECTS)}\r\n` : '';
    const date = random() < 0.9 ? `Date: ${1 + (uid % 28)} Jan 2021 10:00:00 +0000\r\n` : '';
    const text = `${author}${more}${to}${subject}${date}\r\n${'x'.repeat(uid % 50)}\r\n`;
    bytes.set(uid, { bytes: Buffer.from(text), receivedAt: Date.UTC(2021, 0, 1) + uid * 3_600_000 });
    uids.push(uid);
    bits.push(Math.floor(random() * 32));
  }
  const at = (uid: number): number => uids.indexOf(uid);
  const view: SearchedView = {
    uids: Uint32Array.from(uids),
    length: uids.length,
    bits: (uid) => bits[at(uid)] ?? 0,
    flagNames: (uid) => (uid % 3 === 0 ? ['work'] : []),
  };
  return { ...storedInMemory({ message: (_, uid) => bytes.get(uid) }, 1, view), view, bytes, random, pick };
}

type World = ReturnType<typeof world>;

const LEAVES = [
  'SEEN', 'UNFLAGGED', 'KEYWORD work', 'UID 5:200', 'UID 600:*', '1:50', 'LARGER 140', 'SMALLER 120', 'SINCE 10-Jan-2021', 'BEFORE 20-Jan-2021',
  'ON 15-Jan-2021', 'SENTON 4-Jan-2021', 'SENTSINCE 20-Jan-2021', 'SUBJECT tea', 'SUBJECT ""', 'SUBJECT лиса', 'SUBJECT strasse', 'FROM ann', 'FROM p3@b.test',
  'FROM "Doe, John"', 'FROM jörg', 'TO größe', 'TO cc@', 'CC x', 'BCC ""', 'HEADER Date Jan', 'HEADER X-None ""', 'BODY xxxx', 'TEXT time', 'ALL', 'NEW', 'OLDER 60',
]; // prettier-ignore

function randomProgram({ random, pick }: World, depth = 0): string {
  const kind = random();
  if (depth > 3 || kind < 0.5) return pick(LEAVES);
  if (kind < 0.65) return `NOT ${randomProgram({ random, pick } as World, depth + 1)}`;
  const [a, b] = [
    randomProgram({ random, pick } as World, depth + 1),
    randomProgram({ random, pick } as World, depth + 1),
  ];
  return kind < 0.85 ? `OR ${a} ${b}` : `(${a} ${b})`;
}

function programOf(text: string, view: SearchedView): SearchProgram {
  const command = parseSearch(new Decoder(Buffer.from(text)));
  if (command.kind !== 'search') throw new Error('not a search');
  return bindSearch(command.program, view.uids, view.length);
}

function find(
  { view, messages, source }: World,
  program: SearchProgram,
  columns: MailboxColumns,
): Promise<FindOutcome> {
  const { found, open } = matchByFlags(program, view.uids, view.length, view);
  return findMessages({ program, found, open, total: view.length, now: Date.now() }, { messages, source, columns });
}

describe('the columns of a mailbox', () => {
  test('they decide 200 random programs as the messages themselves do', async () => {
    const it = world();
    const columns = new MailboxColumns();
    for (let n = 0; n < 200; n++) {
      const text = randomProgram(it);
      const program = programOf(text, it.view);
      const expected = await searchMailbox(program, it.view, it.messages);
      expect(await find(it, program, columns), text).toEqual(expected);
    }
    expect(columns.headers.length).toBe(it.view.length);
  });

  test.each([20_000, 60_000, 100_000])(
    'with memory for some of the headers they decide as the messages do: %d octets',
    async (octets) => {
      const it = world();
      const columns = new MailboxColumns(octets);
      for (let n = 0; n < 60; n++) {
        const text = randomProgram(it);
        const program = programOf(text, it.view);
        expect(await find(it, program, columns), text).toEqual(await searchMailbox(program, it.view, it.messages));
      }
      expect(columns.headers.length).toBeGreaterThan(0);
      expect(columns.headers.length).toBeLessThan(it.view.length);
      expect(columns.headers.octets).toBeLessThan(octets + 200 * 400);
    },
  );

  test.each([
    ['SORT', { kind: 'sort' as const, keys: [{ by: 'SUBJECT' as const, reverse: false }], scores: new Map() }],
    ['THREAD', { kind: 'thread' as const, algorithm: 'REFERENCES' as const, known: undefined }],
  ])('a mailbox that does not fit into memory is refused a %s, and searched all the same', async (_name, order) => {
    const it = world();
    const columns = new MailboxColumns(it.view.length * 40);
    const program = programOf('ALL', it.view);
    const { found, open } = matchByFlags(program, it.view.uids, it.view.length, it.view);
    const input = { program, found, open, total: it.view.length, now: 0 };
    let read = 0;
    const source: World['source'] = {
      ...it.source,
      keys: (...of) => (read++, it.source.keys(...of)),
      threading: (...of) => (read++, it.source.threading(...of)),
    };
    const context = { messages: it.messages, source, columns };
    for (let n = 0; n < 3; n++) expect(await findMessages({ ...input, order }, context)).toEqual({ kind: 'too-long' });
    expect(read).toBe(0);
    expect(await findMessages(input, context)).toMatchObject({ kind: 'found' });
  });

  test('a search of headers reads them once', async () => {
    const it = world();
    const columns = new MailboxColumns();
    let read = 0;
    const source = {
      ...it.source,
      headers: (uids: readonly number[]) => ((read += uids.length), it.source.headers(uids)),
    };
    for (const text of ['SUBJECT tea', 'FROM ann', 'OR TO bob SUBJECT fox'])
      await find({ ...it, source }, programOf(text, it.view), columns);
    expect(read).toBe(it.view.length);
  });

  test('new messages are found at once, and expunged ones no more', async () => {
    const it = world();
    const columns = new MailboxColumns();
    const program = programOf('SUBJECT tea', it.view);
    const few = { ...it.view, uids: it.view.uids.slice(0, 600), length: 600 };
    const first = await find(
      { ...it, ...storedInMemory({ message: (_, uid) => it.bytes.get(uid) }, 1, few), view: few },
      program,
      columns,
    );
    const second = await find(it, program, columns);
    const without = { ...it.view, uids: it.view.uids.slice(100), length: it.view.length - 100 };
    const third = await find({ ...it, view: without }, program, columns);
    const uidsOf = (outcome: FindOutcome): number[] => (outcome.kind === 'found' ? [...outcome.uids] : []);
    expect(uidsOf(first)).toEqual(uidsOf(second).filter((uid) => uid <= few.uids[599]!));
    expect(uidsOf(third)).toEqual(uidsOf(second).filter((uid) => uid >= without.uids[0]!));
    expect(uidsOf(second).length).toBeGreaterThan(uidsOf(first).length);
  });

  test('a header that cannot be read is read again by the next search', async () => {
    const it = world();
    const columns = new MailboxColumns();
    let damaged = true;
    const headers: World['source']['headers'] = async (uids) =>
      (await it.source.headers(uids)).map((row) => (damaged && row.uid === 3 ? { uid: 3, header: undefined } : row));
    const program = programOf('FROM p3@b.test', it.view);
    const found = await find({ ...it, source: { ...it.source, headers } }, program, columns);
    damaged = false;
    expect(await find({ ...it, source: { ...it.source, headers } }, program, columns)).toEqual(found);
    expect(found).toMatchObject({ kind: 'found' });
    expect(found.kind === 'found' && found.uids.includes(3)).toBe(it.view.uids.includes(3));
  });

  test('what was read before the time was over is there for the next search', async () => {
    const it = world();
    const columns = new MailboxColumns();
    let now = 0;
    const program = programOf('SUBJECT tea', it.view);
    const { found, open } = matchByFlags(program, it.view.uids, it.view.length, it.view);
    const input = { program, found, open, total: it.view.length, now: 0 };
    const late = { messages: it.messages, source: it.source, columns, clock: () => (now += 100), limitMs: 350 };
    const outcomes: string[] = [];
    for (let n = 0; n < 20 && outcomes.at(-1) !== 'found'; n++) outcomes.push((await findMessages(input, late)).kind);
    expect(outcomes[0]).toBe('too-long');
    expect(outcomes.at(-1)).toBe('found');
  });

  test('a search ends with its client', async () => {
    const it = world();
    const program = programOf('BODY nothing', it.view);
    const { found, open } = matchByFlags(program, it.view.uids, it.view.length, it.view);
    const input = { program, found, open, total: it.view.length, now: 0 };
    const context = {
      messages: it.messages,
      source: it.source,
      columns: new MailboxColumns(),
      isCancelled: () => true,
    };
    expect(await findMessages(input, context)).toEqual({ kind: 'too-long' });
  });
});

test('the cache drops the columns that were used longest ago', () => {
  const cache = new ColumnCache(3 * new MailboxColumns().octets);
  const [a, b] = [cache.open('a'), cache.open('b')];
  cache.open('c');
  expect(cache.open('a')).toBe(a);
  cache.open('d');
  cache.trim();
  expect(cache.open('a')).toBe(a);
  expect(cache.open('b')).not.toBe(b);
});

describe('a column of texts', () => {
  test('each text is found where it is, over chunks and in any script', () => {
    const column = new FoldedColumn();
    const texts = Array.from({ length: 3_000 }, (_, n) => (n % 500 === 3 ? 'XFOXY ЛИСА' : n % 2 === 0 ? '' : `T${n}`));
    for (const text of texts) column.append(text);
    for (const text of ['FOX', 'ЛИСА', 'T2999', 'T1', 'NONE']) {
      const found = new PositionSet(texts.length);
      column.find(text, PositionSet.full(texts.length), found);
      expect([...found.toArray()]).toEqual(texts.flatMap((each, n) => (each.includes(text) ? [n] : [])));
    }
  });

  test('no text is found over two messages', () => {
    const column = new FoldedColumn();
    for (let n = 0; n < 2_000; n++) column.append(n % 2 === 0 ? 'AB' : 'CD');
    const found = new PositionSet(2_000);
    column.find('BC', PositionSet.full(2_000), found);
    expect(found.isEmpty).toBe(true);
    expect(FoldedColumn.isSearchable('B\0C')).toBe(false);
  });
});

test('sets of positions add, subtract and count', () => {
  const a = new PositionSet(100).addRange(10, 75);
  const b = new PositionSet(100).addRange(70, 100);
  expect([...a.and(b).toArray()]).toEqual([70, 71, 72, 73, 74]);
  expect(a.or(b).count).toBe(90);
  expect(b.minus(a).count).toBe(25);
  expect([a.has(9), a.has(10), a.has(74), a.has(75)]).toEqual([false, true, true, false]);
  expect([a.mayTouch(0, 8), b.mayTouch(96, 100), new PositionSet(64).mayTouch(0, 64)]).toEqual([true, true, false]);
  expect(PositionSet.full(33).count).toBe(33);
});
