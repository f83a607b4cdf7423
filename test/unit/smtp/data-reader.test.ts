import { describe, expect, test } from 'vitest';
import { BdatReader } from '../../../mail/smtp/bdat-reader.ts';
import { DataReader, MAX_LINE_OCTETS } from '../../../mail/smtp/data-reader.ts';
import { DotStuffer } from '../../../mail/smtp/dot-stuff.ts';
import * as fc from '../../support/fast-check.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

interface Read {
  text: string;
  flaw: string | undefined;
  ended: boolean;
  rest: string;
}

/** Feeds a reader piece by piece; what comes behind the end is `rest`. */
function read(pieces: readonly Buffer[]): Read {
  const reader = new DataReader();
  const out: Buffer[] = [];
  const rest: Buffer[] = [];
  for (const piece of pieces) {
    const chunk = Buffer.from(piece);
    if (reader.ended) rest.push(chunk);
    else {
      out.push(Buffer.from(reader.read(chunk)));
      rest.push(chunk.subarray(reader.next));
    }
  }
  const text = Buffer.concat(out).toString('latin1');
  return { text, flaw: reader.flaw, ended: reader.ended, rest: Buffer.concat(rest).toString('latin1') };
}

function splits(octets: Buffer): Buffer[][] {
  const every = Array.from(octets, (octet) => Buffer.from([octet]));
  const inTwo = Array.from(octets, (_, at) => [octets.subarray(0, at), octets.subarray(at)]);
  return [[octets], every, ...inTwo];
}

describe('DATA', () => {
  test.each<[string, string, string]>([
    ['.\r\n', '', ''],
    ['a\r\n.\r\n', 'a\r\n', ''],
    ['a\r\n.\r\nQUIT\r\n', 'a\r\n', 'QUIT\r\n'],
    ['..\r\n.\r\n', '.\r\n', ''],
    ['...\r\n.a\r\n.\r\n', '..\r\na\r\n', ''],
    ['a.\r\n.b.\r\n\r\n..\r\n.\r\n.\r\n', 'a.\r\nb.\r\n\r\n.\r\n', '.\r\n'],
    ['\r\n\r\n.\r\n', '\r\n\r\n', ''],
    [`${'long '.repeat(40)}\r\n..${'x'.repeat(100)}\r\n.\r\n`, `${'long '.repeat(40)}\r\n.${'x'.repeat(100)}\r\n`, ''],
  ])('%j, however it is split', (input, text, rest) => {
    for (const pieces of splits(Buffer.from(input))) {
      expect(read(pieces)).toEqual({ text, flaw: undefined, ended: true, rest });
    }
  });

  test.each<[string, string, boolean]>([
    ['a\n.\n', 'bare-lf', false],
    ['a\n.\r\n', 'bare-lf', false],
    ['a\r\n.\n', 'bare-lf', false],
    ['a\r.\r', 'bare-cr', false],
    ['a\r.\r\n', 'bare-cr', false],
    ['a\r\n.\rb', 'bare-cr', false],
    ['a\r\n.\r\r\n', 'bare-cr', false],
    ['a\r\n\0.\r\n', 'nul', false],
    ['a\r\n.\0\r\n', 'nul', false],
    ['a\r\r\n.\r\n', 'bare-cr', true],
    ['a\n..\r\n.\r\n', 'bare-lf', true],
    ['a\r\n..\n\r\n.\r\n', 'bare-lf', true],
  ])('%j is flawed, and only CRLF.CRLF is its end', (input, flaw, ended) => {
    for (const pieces of splits(Buffer.from(input))) {
      const { flaw: found, ended: end } = read(pieces);
      expect([found, end]).toEqual([flaw, ended]);
    }
  });

  test.each([' ', '\t', '\v', '\f', '\x85', '\u2028'])('CRLF.%j CRLF is no end', (character) => {
    for (const pieces of splits(Buffer.from(`a\r\n.${character}\r\n`))) expect(read(pieces).ended).toBe(false);
  });

  test('what is stuffed comes back, whatever it is and however it is split', () => {
    const lines = fc.array(fc.constantFrom('', '.', '..', '.a', 'a.', 'hello', 'x'.repeat(80), '.'.repeat(70)));
    fc.assert(
      fc.property(lines, fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), (content, sizes) => {
        const message = content.map((line) => `${line}\r\n`).join('');
        const sent = stuffed([Buffer.from(message)]);
        expect(read(cut(sent as Buffer, sizes))).toMatchObject({ text: message, ended: true, rest: '' });
      }),
      { seed: 3, numRuns: 500 },
    );
  });

  test('a reader agrees with a plain one on any octets', () => {
    const octets = fc.array(fc.constantFrom('\r', '\n', '.', 'a', '\0', '\r\n', '\r\n.\r\n'), { maxLength: 40 });
    fc.assert(
      fc.property(octets, fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }), (parts, sizes) => {
        const input = parts.join('');
        const end = `\r\n${input}`.indexOf('\r\n.\r\n');
        const message = end < 0 ? input : input.slice(0, Math.max(0, end));
        const got = read(cut(Buffer.from(input), sizes));
        expect(got.ended).toBe(end >= 0);
        const clean = !/\r(?!\n)|(?<!\r)\n|\0/.test(end < 0 ? message.replace(/\r$/, '') : message);
        expect(got.flaw === undefined).toBe(clean);
        if (end >= 0 && clean) expect(got.text).toBe(message.replace(/(^|\r\n)\./g, '$1'));
      }),
      { seed: 4, numRuns: 3000 },
    );
  });

  test('a line may have 64 KiB and no octet more', () => {
    const at = (length: number, size: number) =>
      read(cut(Buffer.from(`a\r\n${'x'.repeat(length)}\r\nb\r\n.\r\n`), [size])).flaw;
    for (const size of [1e6, 1000, 65_539]) {
      expect(at(MAX_LINE_OCTETS, size)).toBeUndefined();
      expect(at(MAX_LINE_OCTETS + 1, size)).toBe('long-line');
    }
  });

  test('ten times the dots take about ten times as long', async () => {
    const read = (lines: number): unknown => new DataReader().read(Buffer.from('..\r\n'.repeat(lines)));
    expect(await growth(read, 1_000_000)).toBeLessThan(PROPORTIONAL);
  });
});

describe('BDAT', () => {
  function readChunks(chunks: readonly string[], size = 1e6): { text: string; flaw: string | undefined } {
    const reader = new BdatReader();
    const out: Buffer[] = [];
    for (const chunk of chunks) {
      reader.begin(chunk.length);
      for (const piece of cut(Buffer.from(chunk, 'latin1'), [size])) out.push(reader.read(piece));
      expect(reader.remaining).toBe(0);
    }
    reader.end();
    return { text: Buffer.concat(out).toString('latin1'), flaw: reader.flaw };
  }

  test.each<[string[], string | undefined]>([
    [['a\r\n.\r\nb\r\n'], undefined],
    [['a\r', '\nb'], undefined],
    [['', 'no line end'], undefined],
    [['a\r', 'b'], 'bare-cr'],
    [['a', '\nb'], 'bare-lf'],
    [['a\r'], 'bare-cr'],
    [['a\r\r\n'], 'bare-cr'],
    [['a\0'], 'nul'],
    [[`${'x'.repeat(MAX_LINE_OCTETS + 1)}\r\n`], 'long-line'],
    [['x'.repeat(MAX_LINE_OCTETS), 'xx'], 'long-line'],
    [['x'.repeat(MAX_LINE_OCTETS), '\r\n'], undefined],
  ])('%j', (chunks, flaw) => {
    for (const size of [1, 7, 1e6]) {
      expect(readChunks(chunks, size)).toEqual({ text: chunks.join(''), flaw });
    }
  });

  test('takes its octets and leaves the rest', () => {
    const reader = new BdatReader();
    reader.begin(3);
    expect(reader.read(Buffer.from('abcQUIT\r\n')).toString()).toBe('abc');
    expect(reader.remaining).toBe(0);
  });
});

describe('what leaves us', () => {
  test.each<[string, string]>([
    ['', '.\r\n'],
    ['a\r\n', 'a\r\n.\r\n'],
    ['a', 'a\r\n.\r\n'],
    ['.\r\n', '..\r\n.\r\n'],
    ['a\r\n.b\r\n..\r\n', 'a\r\n..b\r\n...\r\n.\r\n'],
    ['a.b\r\n', 'a.b\r\n.\r\n'],
  ])('%j goes as %j', (message, sent) => {
    for (const pieces of splits(Buffer.from(message))) expect(stuffed(pieces)?.toString()).toBe(sent);
    expect(stuffed([])?.toString()).toBe('.\r\n');
  });

  test.each(['a\nb', '\n.\n', 'a\rb', 'a\r', 'a\r\r\n', 'a\0b', 'a\r\n\r.\r\n', 'a\n..\r\n'])(
    '%j never goes',
    (message) => {
      for (const pieces of splits(Buffer.from(message))) expect(stuffed(pieces)).toBeUndefined();
    },
  );

  test('nothing bare is given out before the refusal either', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('\r', '\n', '.', 'a', '\0', '\r\n'), { maxLength: 30 }), (parts) => {
        const stuffer = new DotStuffer();
        let out = '';
        for (const octet of Buffer.from(parts.join(''))) {
          const given = stuffer.push(Buffer.from([octet]));
          if (given.kind === 'refused') break;
          out += given.octets.toString('latin1');
        }
        expect(out).not.toMatch(/\r(?!\n)|(?<!\r)\n|\0|(?:^|\n)\.(?!\.)./);
      }),
      { seed: 5, numRuns: 1000 },
    );
  });
});

/** Everything that a message is sent as, or undefined when it is refused. */
function stuffed(pieces: readonly Buffer[]): Buffer | undefined {
  const stuffer = new DotStuffer();
  const out: Buffer[] = [];
  for (const given of [...pieces.map((piece) => stuffer.push(Buffer.from(piece))), stuffer.end()]) {
    if (given.kind === 'refused') return undefined;
    out.push(given.octets);
  }
  return Buffer.concat(out);
}

function cut(octets: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < octets.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    pieces.push(octets.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
