import { describe, expect, test } from 'vitest';
import { AFTER_LOGIN, BEFORE_LOGIN, CommandReader, type ReaderEvent } from '../../../mail/imap/wire/command-reader.ts';
import * as fc from '../../support/fast-check.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

/** Reader events as readable lines; streamed octets are joined. */
function run(input: string, step = Infinity, limits = AFTER_LOGIN, refuse: 'all' | 'none' = 'none'): string[] {
  const reader = new CommandReader(limits);
  const seen: string[] = [];
  const octets = Buffer.from(input, 'latin1');
  let data = '';
  const say = (event: ReaderEvent): void => {
    if (event.kind === 'literal-data') {
      data += event.bytes.toString('latin1');
      if (event.last) seen.push(`data ${data}`);
      if (event.last) data = '';
      return;
    }
    seen.push(spell(event));
    if (event.kind !== 'append-literal') return;
    if (refuse === 'all') reader.refuse();
    else reader.accept();
  };
  for (let at = 0; at < octets.length; at += step) {
    reader.push(octets.subarray(at, at + step));
    for (let event = reader.next(); event; event = reader.next()) say(event);
  }
  return seen;
}

function spell(event: ReaderEvent): string {
  switch (event.kind) {
    case 'command':
      return event.bytes.toString('latin1');
    case 'append-literal':
      return `append [${event.head.toString('latin1')}] ${event.size}${event.sync ? '' : '+'}${event.binary ? ' binary' : ''}`;
    case 'append-end':
      return `end [${event.rest.toString('latin1')}]`;
    case 'problem':
      return `${event.fatal ? 'fatal' : event.tag} ${event.text}`;
    case 'literal-data':
      return 'data';
    case 'need-continuation':
    case 'refused':
    default:
      return event.kind;
  }
}

const TABLE: Array<[what: string, input: string, seen: string[]]> = [
  ['one command', 'a NOOP\r\n', ['a NOOP']],
  ['an unfinished one', 'a NOOP', []],
  ['pipelined', 'a NOOP\r\nb NOOP\r\nc', ['a NOOP', 'b NOOP']],
  ['empty lines before', '\r\n\r\nB41 UID MOVE 1 x\r\n', ['B41 UID MOVE 1 x']],
  ['bare LF', 'a NOOP\nb {1}\nx y\n', ['a NOOP', 'need-continuation', 'b {1}\nx y']],
  ['a literal', 'a LOGIN {2}\r\nme {2+}\r\npw\r\n', ['need-continuation', 'a LOGIN {2}\r\nme {2+}\r\npw']],
  ['an empty literal', 'a LOGIN {0+}\r\n {0}\r\n\r\n', ['need-continuation', 'a LOGIN {0+}\r\n {0}\r\n']],
  ['a literal with lines in it', 'a X {9+}\r\n\r\nb {3}\r\n y\r\n', ['a X {9+}\r\n\r\nb {3}\r\n y']],
  ['no literal: quoted', 'a SEARCH SUBJECT "x {3}"\r\nb\r\n', ['a SEARCH SUBJECT "x {3}"', 'b']],
  ['no literal: in open quotes', 'a SEARCH SUBJECT "x {3}\r\nb\r\n', ['a SEARCH SUBJECT "x {3}', 'b']],
  ['no literal: escaped quote', 'a X "\\" {3}\r\nb\r\n', ['a X "\\" {3}', 'b']],
  ['a literal after quotes', 'a X "\\"" {1+}\r\ny\r\n', ['a X "\\"" {1+}\r\ny']],
  ['no literal: no number', 'a X {}\r\nb {+}\r\nc {x}\r\nd 3}\r\n', ['a X {}', 'b {+}', 'c {x}', 'd 3}']],
  ['literal8', 'a X ~{2+}\r\n\0\0\r\n', ['a X ~{2+}\r\n\0\0']],
  [
    'append',
    'a APPEND x (\\Seen) {5}\r\nhello\r\nb NOOP\r\n',
    ['append [a APPEND x (\\Seen) ] 5', 'data hello', 'end []', 'b NOOP'],
  ],
  ['append, not waiting', 'a append x {5+}\r\nhello\r\n', ['append [a append x ] 5+', 'data hello', 'end []']],
  ['append of nothing', 'a APPEND x {0}\r\n\r\n', ['append [a APPEND x ] 0', 'data ', 'end []']],
  [
    'append to a name as literal',
    'a APPEND {1+}\r\nx {2+}\r\nhi\r\n',
    ['append [a APPEND {1+}\r\nx ] 2+', 'data hi', 'end []'],
  ],
  [
    'append of two messages',
    'a APPEND x {1+}\r\ny (\\Seen) {1+}\r\nz\r\n',
    ['append [a APPEND x ] 1+', 'data y', 'append [ (\\Seen) ] 1+', 'data z', 'end []'],
  ],
  [
    'append in UTF-8',
    'a APPEND x UTF8 (~{2+}\r\nhi)\r\n',
    ['append [a APPEND x UTF8 (] 2+ binary', 'data hi', 'end [)]'],
  ],
  ['not an append', 'a XAPPEND x {1+}\r\ny\r\n', ['a XAPPEND x {1+}\r\ny']],
];

describe('the command reader', () => {
  test.each(TABLE)('%s', (_what, input, seen) => {
    expect(run(input)).toEqual(seen);
  });

  test.each(TABLE)('%s, octet by octet', (_what, input, seen) => {
    expect(run(input, 1)).toEqual(seen);
  });

  test.each([
    [
      'a refused message that was announced',
      'a APPEND x {5}\r\nb NOOP\r\n',
      ['append [a APPEND x ] 5', 'refused', 'b NOOP'],
    ],
    [
      'a refused message that comes anyway',
      'a APPEND x {8+}\r\nx NOOP\r\n\r\nb NOOP\r\n',
      ['append [a APPEND x ] 8+', 'refused', 'b NOOP'],
    ],
    [
      'a refused message with another behind it',
      'a APPEND x {1+}\r\ny {6+}\r\nc {9}\r\n\r\nb NOOP\r\n',
      ['append [a APPEND x ] 1+', 'refused', 'b NOOP'],
    ],
    [
      'a refused message, the next one announced',
      'a APPEND x {1+}\r\ny {6}\r\nb NOOP\r\n',
      ['append [a APPEND x ] 1+', 'refused', 'b NOOP'],
    ],
    [
      'a refused giant',
      'a APPEND x {9999999999+}\r\n',
      ['append [a APPEND x ] 9999999999+', 'fatal Literal is too big'],
    ],
    [
      'a refused giant that was announced',
      'a APPEND x {99999999999999999999}\r\nb\r\n',
      ['append [a APPEND x ] 100000000000000000000', 'refused', 'b'],
    ],
  ])('%s', (_what, input, seen) => {
    expect(run(input, Infinity, AFTER_LOGIN, 'all')).toEqual(seen);
    expect(run(input, 1, AFTER_LOGIN, 'all')).toEqual(seen);
  });

  const small = { line: 20, literal: 10, command: 50, literals: 3, discard: 100, append: true };
  test.each([
    ['a long line', `a NOOP ${'x'.repeat(30)}\r\nb NOOP\r\n`, ['a Line is too long', 'b NOOP']],
    [
      'a long line with a literal',
      `a NOOP ${'x'.repeat(30)} {9+}\r\nc NOOP\r\n\r\n\r\nb NOOP\r\n`,
      ['a Line is too long', 'b NOOP'],
    ],
    ['a long line that waits', `a NOOP ${'x'.repeat(30)} {9}\r\nb NOOP\r\n`, ['a Line is too long', 'b NOOP']],
    ['an endless line', `a NOOP ${'x'.repeat(200)}`, ['fatal Command is too big']],
    ['lines that are long together', 'a X 123456 {1+}\r\n12345678 x\r\nb\r\n', ['a Line is too long', 'b']],
    ['a big literal that waits', 'a X {11}\r\nb NOOP\r\n', ['a Literal is too big', 'b NOOP']],
    ['a big literal', 'a X {11+}\r\nb NOOP\r\nx\r\n y\r\nb NOOP\r\n', ['a Literal is too big', 'b NOOP']],
    ['an absurd literal that waits', 'a X {4294967295}\r\nb NOOP\r\n', ['a Literal is too big', 'b NOOP']],
    ['an absurd literal', 'a X {99999999999999999999+}\r\nb NOOP\r\n', ['fatal Literal is too big']],
    [
      'a big command',
      'a {10+}\r\n1234567890{10+}\r\n1234567890{10+}\r\n1234567890\r\nb\r\n',
      ['a Command is too big', 'b'],
    ],
    ['many literals', 'a {0+}\r\n{0+}\r\n{0+}\r\n{0+}\r\n\r\nb\r\n', ['a Too many literals', 'b']],
    ['no tag', `(${'x'.repeat(30)}\r\n`, ['* Line is too long']],
    ['a long tag', `${'x'.repeat(30)}\r\n`, ['* Line is too long']],
  ])('over the limits: %s', (_what, input, seen) => {
    expect(run(input, Infinity, small)).toEqual(seen);
    expect(run(input, 1, small)).toEqual(seen);
  });

  test('before login, a message is a literal like any other', () => {
    expect(run('a APPEND x {5}\r\nhello\r\n', 1, BEFORE_LOGIN)).toEqual([
      'need-continuation',
      'a APPEND x {5}\r\nhello',
    ]);
    expect(run('a LOGIN {4294967295}\r\nb NOOP\r\n', 1, BEFORE_LOGIN)).toEqual(['a Literal is too big', 'b NOOP']);
    expect(run('a LOGIN {1073741824+}\r\n', 1, BEFORE_LOGIN)).toEqual(['fatal Literal is too big']);
    expect(run(`a NOOP ${'('.repeat(37_000)}\r\n`, 1_000, BEFORE_LOGIN)).toEqual(['a Line is too long']);
  });

  test('raw lines in between: DONE with the next command behind it', () => {
    const reader = new CommandReader(AFTER_LOGIN);
    reader.push(Buffer.from('a IDLE\r\nDONE\r\nb NOOP\r\n'));
    expect(reader.next()).toMatchObject({ kind: 'command' });
    expect(reader.nextLine()).toEqual({ kind: 'line', bytes: Buffer.from('DONE') });
    expect(reader.next()).toMatchObject({ kind: 'command', bytes: Buffer.from('b NOOP') });
    expect(reader.next()).toBeUndefined();
  });

  test('a raw line may come in pieces, be empty, and has a limit', () => {
    const reader = new CommandReader();
    for (const piece of ['Zm', '9v', '\r']) reader.push(Buffer.from(piece));
    expect(reader.nextLine()).toBeUndefined();
    reader.push(Buffer.from('\n\r\n*'));
    expect(reader.nextLine()).toEqual({ kind: 'line', bytes: Buffer.from('Zm9v') });
    expect(reader.nextLine()).toEqual({ kind: 'line', bytes: Buffer.alloc(0) });
    reader.push(Buffer.alloc(5000, 'x'));
    expect(reader.nextLine(4000)).toMatchObject({ kind: 'problem', fatal: true });
    expect(reader.nextLine()).toBeUndefined();
    expect(reader.next()).toBeUndefined();
  });

  test('what was pushed before STARTTLS is gone afterwards', () => {
    const reader = new CommandReader();
    reader.push(Buffer.from('a STARTTLS\r\nb LOGIN x y\r\nc LOG'));
    reader.next();
    reader.clear();
    reader.push(Buffer.from('d NOOP\r\n'));
    expect(reader.next()).toMatchObject({ bytes: Buffer.from('d NOOP') });
    expect(reader.buffered).toBe(0);
  });

  test('a message that stops being wanted half-way', () => {
    const reader = new CommandReader(AFTER_LOGIN);
    reader.push(Buffer.from('a APPEND x {10}\r\n'));
    expect(reader.next()).toMatchObject({ kind: 'append-literal', size: 10 });
    expect(reader.next()).toBeUndefined();
    reader.accept();
    reader.push(Buffer.from('12345'));
    expect(reader.next()).toMatchObject({ kind: 'literal-data', last: false });
    reader.refuse();
    reader.push(Buffer.from('67890\r\nb NOOP\r\n'));
    expect(reader.next()).toEqual({ kind: 'refused' });
    expect(reader.next()).toMatchObject({ bytes: Buffer.from('b NOOP') });
  });

  test('pieces of any size make the same commands', () => {
    const word = fc.constantFrom(
      'a NOOP', 'b', ' ', '\r\n', '\n', '\r', '{2}\r\nhi', '{3+}\r\nyou', '~{1+}\r\nx', '"', '\\', '{', '}', '{99}', '{99+}\r\n',
      'c APPEND x ', 'd APPEND {1+}\r\n', '{5}\r\nhello', '(\\Seen)', 'DONE', '\0', '\xff',
    ); // prettier-ignore
    const limits = { line: 60, literal: 20, command: 100, literals: 4, discard: 120, append: true };
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        (words, step, refuse) => {
          const input = words.join('');
          const policy = refuse ? 'all' : 'none';
          expect(run(input, step, limits, policy)).toEqual(run(input, Infinity, limits, policy));
        },
      ),
      { numRuns: 3000, seed: 8 },
    );
  });

  test('a command that comes octet by octet costs no more than its length', async () => {
    const reader = new CommandReader(AFTER_LOGIN);
    const read = (length: number): void => {
      const chunk = Buffer.from('x');
      for (let i = 0; i < length; i++) {
        reader.push(chunk);
        reader.next();
      }
      reader.push(Buffer.from('\r\n'));
      expect(reader.next()).toMatchObject({ kind: 'command' });
    };
    expect(await growth(read, 60_000)).toBeLessThan(PROPORTIONAL);
  });

  test('an idle reader holds no octets of its own', () => {
    const reader = new CommandReader(AFTER_LOGIN);
    const slab = Buffer.alloc(65_536, 'a NOOP\r\n');
    reader.push(slab);
    while (reader.next());
    reader.push(slab.subarray(0, 4));
    reader.next();
    const held = Reflect.get(Reflect.get(reader, 'input') as object, 'bytes') as Buffer;
    expect(held.buffer.byteLength).toBeLessThanOrEqual(64);
  });
});
