import { describe, expect, test } from 'vitest';
import { LineReader } from '../../../mail/smtp/line-reader.ts';
import { ReplyReader, type ReadReply } from '../../../mail/smtp/reply-reader.ts';
import * as fc from '../../support/fast-check.ts';

function replies(text: string | Buffer, size = 1e6): ReadReply[] {
  const reader = new ReplyReader();
  const octets = Buffer.from(text as string);
  const read: ReadReply[] = [];
  for (let at = 0; at < octets.length; at += size) read.push(...reader.push(octets.subarray(at, at + size)));
  return read;
}

describe('replies of a server', () => {
  test.each<[string, object[]]>([
    ['250 Ok\r\n', [{ code: 250, enhanced: undefined, lines: ['Ok'] }]],
    ['250 2.1.0 Ok\r\n', [{ code: 250, enhanced: '2.1.0', lines: ['Ok'] }]],
    ['250\r\n', [{ code: 250, enhanced: undefined, lines: [''] }]],
    ['250-a\r\n250-b\n250 c\r\n', [{ code: 250, enhanced: undefined, lines: ['a', 'b', 'c'] }]],
    ['550-5.7.1 a\r\n550 5.7.1 b\r\n', [{ code: 550, enhanced: '5.7.1', lines: ['a', 'b'] }]],
    // An enhanced code of another class is text.
    ['550 2.0.0 no\r\n', [{ code: 550, enhanced: undefined, lines: ['2.0.0 no'] }]],
    ['220 a\r\n354 b\r\n', [{ code: 220 }, { code: 354 }]],
    ['550 a\x1b[2Jb\u202ec\r\n', [{ code: 550, enhanced: undefined, lines: ['a?[2Jb?c'] }]],
  ])('%j', (text, expected) => {
    for (const size of [1, 3, 1e6]) {
      const read = replies(text, size);
      expect(read).toHaveLength(expected.length);
      for (const [index, reply] of expected.entries()) expect(read[index]).toMatchObject({ kind: 'reply', reply });
    }
  });

  test.each<[string, string]>([
    ['hello\r\n', 'the server sent no valid SMTP reply'],
    ['25 Ok\r\n', 'the server sent no valid SMTP reply'],
    ['150 Ok\r\n', 'the server sent no valid SMTP reply'],
    ['650 Ok\r\n', 'the server sent no valid SMTP reply'],
    ['250_Ok\r\n', 'the server sent no valid SMTP reply'],
    ['\r\n', 'the server sent no valid SMTP reply'],
    ['250-a\r\n550 b\r\n', 'the lines of a reply differ in code'],
    ['250-a\r\n'.repeat(100), 'a reply has too many lines'],
  ])('%j is broken', (text, why) => {
    for (const size of [700, 1e6]) expect(replies(text, size)[0]).toEqual({ kind: 'broken', why });
  });

  test('a reply has at most 64 KiB', () => {
    const broken = { kind: 'broken', why: 'a reply is too long' };
    for (const size of [700, 1e6]) {
      expect(replies(`250 ${'x'.repeat(70_000)}`, size)[0]).toEqual(broken);
      expect(replies(`250-${'x'.repeat(1000)}\r\n`.repeat(80), size)[0]).toEqual(broken);
    }
  });

  test('octets that are no text do no harm', () => {
    const read = replies(Buffer.concat([Buffer.from('550 '), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from('\r\n')]));
    expect(read[0]).toMatchObject({ kind: 'reply', reply: { code: 550, lines: ['\ufffd\ufffd('] } });
  });

  test('what was put in behind the answer to STARTTLS is seen', () => {
    const reader = new ReplyReader();
    expect(reader.push(Buffer.from('220 go\r\n'))).toHaveLength(1);
    expect(reader.pending).toBe(false);
    reader.push(Buffer.from('250-inj'));
    expect(reader.pending).toBe(true);
  });

  test('nothing throws, and nothing is read after a break', () => {
    const parts = fc.array(fc.constantFrom('2', '5', '0', '-', ' ', '\r', '\n', '250 a\r\n', '250-b\r\n', 'x', '\0'));
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 9 }), (words, size) => {
        const read = replies(words.join(''), size);
        const broken = read.findIndex(({ kind }) => kind === 'broken');
        if (broken >= 0) expect(read.slice(broken).every(({ kind }) => kind === 'broken')).toBe(true);
      }),
      { seed: 6, numRuns: 500 },
    );
  });
});

describe('command lines', () => {
  function lines(input: Buffer, size: number, limit = 20): (string | { flaw: string })[] {
    const reader = new LineReader();
    const read: (string | { flaw: string })[] = [];
    for (let at = 0; at < input.length; at += size) {
      reader.push(input.subarray(at, at + size));
      for (let line = reader.line(limit); line !== undefined; line = reader.line(limit)) read.push(line);
      expect(reader.buffered).toBeLessThanOrEqual(limit);
    }
    return read;
  }

  test.each<[string | Buffer, (string | { flaw: string })[]]>([
    ['NOOP\r\nQUIT\r\n', ['NOOP', 'QUIT']],
    ['\r\n', ['']],
    ['NOOP\n', [{ flaw: 'bare-lf' }]],
    ['\n\r\n', [{ flaw: 'bare-lf' }, '']],
    ['NO\rOP\r\n', [{ flaw: 'control' }]],
    ['NO\0OP\r\nNOOP\r\n', [{ flaw: 'control' }, 'NOOP']],
    ['ü\r\n', ['ü']],
    [Buffer.from([0xfc, 13, 10]), [{ flaw: 'not-utf8' }]],
    [`${'x'.repeat(18)}\r\n`, ['x'.repeat(18)]],
    [`${'x'.repeat(19)}\r\nNOOP\r\n`, [{ flaw: 'too-long' }, 'NOOP']],
  ])('%j', (input, expected) => {
    for (const size of [1, 2, 19, 1e6]) expect(lines(Buffer.from(input as string), size)).toEqual(expected);
  });

  test('a long line is skipped, an endless one is reported at once', () => {
    for (const size of [7, 19, 1e6]) {
      expect(lines(Buffer.from(`${'x'.repeat(60_000)}\r\nNOOP\r\n`), size)).toEqual([{ flaw: 'too-long' }, 'NOOP']);
      expect(lines(Buffer.from('x'.repeat(70_000)), size)[0]).toEqual({ flaw: 'endless' });
    }
  });
});
