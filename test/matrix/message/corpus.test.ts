import { parser } from 'imapflow/lib/handler/imap-handler.js';
import { describe, expect, test } from 'vitest';
import { bodyFromStructure } from '../../../mail/message/body-from-structure.ts';
import { MessageFactsReader } from '../../../mail/message/message-facts.ts';
import { indexMessage, MessageIndexer } from '../../../mail/message/indexer.ts';
import { type MessageFacts, type MessageIndex, requireIndex } from '../../../mail/message/index-types.ts';
import { unpackParts, type Part } from '../../../mail/message/parts.ts';
import { section } from '../../../mail/message/section.ts';
import { BOMBS, corpus } from '../../support/corpus.ts';
import { checkBody, checkEnvelope, parseImapValue } from '../../support/imap-value.ts';
import * as fc from '../../support/fast-check.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const samples = corpus();

function inPieces(bytes: Buffer, sizes: () => number): MessageIndex {
  return fed(new MessageIndexer(), bytes, sizes);
}

function fed<Index>(indexer: { push(chunk: Buffer): void; end(): Index }, bytes: Buffer, sizes: () => number): Index {
  const reused = Buffer.alloc(70_000);
  for (let at = 0; at < bytes.length;) {
    const size = Math.min(sizes(), bytes.length - at, reused.length);
    // The same memory for every chunk, as a file reader does it: nothing may be kept by reference.
    bytes.copy(reused, 0, at, at + size);
    indexer.push(reused.subarray(0, size));
    at += size;
  }
  return indexer.end();
}

function factsOf({ size, messageId, received }: MessageFacts): MessageFacts {
  return { size, messageId, received };
}

/** Checks the invariants of an index. */
function checkIndex(bytes: Buffer, index: MessageIndex): void {
  expect(index.size).toBe(bytes.length);
  expect(index.envelope + index.bodyStructure).toMatch(/^[\x01-\x7f]*$/);
  checkEnvelope(parseImapValue(index.envelope));
  checkBody(parseImapValue(index.bodyStructure));
  checkBody(parseImapValue(bodyFromStructure(index.bodyStructure)), false);
  expect(index.preview.length).toBeLessThanOrEqual(256);
  expect(index.preview).not.toMatch(/[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/);
  expect(index.refs.length).toBeGreaterThan(0);
  expect(index.refs.length).toBeLessThanOrEqual(50);
  expect(JSON.parse(JSON.stringify({ ...index, refs: [] }))).toEqual({ ...index, refs: [] });
  for (const text of [index.subject, index.preview, index.fromDisplay, index.parts])
    expect(text.isWellFormed()).toBe(true);
  checkParts(bytes, unpackParts(index.parts), index);
}

function checkParts(bytes: Buffer, parts: Part[], index: MessageIndex): void {
  const root = parts[0]!;
  expect([root.headerOffset, root.bodyOffset, root.bodyOffset + root.bodyLength]).toEqual([
    0,
    index.headerLength,
    bytes.length,
  ]);
  expect(new Set(parts.map(({ path }) => path)).size).toBe(parts.length);
  for (const part of parts) {
    const end = part.bodyOffset + part.bodyLength;
    expect(part.headerOffset <= part.bodyOffset && part.bodyLength >= 0 && end <= bytes.length).toBe(true);
    const body = bytes.subarray(part.bodyOffset, end);
    expect(part.lines, part.path).toBe(body.toString('latin1').split('\n').length - 1);
    if (!part.path.endsWith('.') && part.path !== '') {
      expect(section(parts, part.path, 'BODY')).toEqual({ start: part.bodyOffset, length: part.bodyLength });
    }
  }
}

test('the corpus has at least 200 kinds of messages, each with a name of its own', () => {
  expect(new Set(samples.map(({ name }) => name)).size).toBe(samples.length);
  expect(samples.length).toBeGreaterThanOrEqual(200);
});

test.each(samples)('$name: the index is sound', ({ bytes }) => {
  checkIndex(bytes, indexMessage(bytes));
});

test.each(samples.filter(({ bytes }) => bytes.length < 20_000))(
  '$name: chunks of any size give the same index',
  ({ bytes }) => {
    const whole = indexMessage(bytes);
    for (const size of [1, 2, 3, 5, 8, 61]) expect(inPieces(bytes, () => size)).toEqual(whole);
  },
);

test.each(samples)('$name: the facts alone are those of the index', ({ bytes }) => {
  const facts = factsOf(indexMessage(bytes));
  for (const size of [1, 7, 4096, 70_000]) {
    if (bytes.length / size < 20_000) expect(fed(new MessageFactsReader(), bytes, () => size)).toEqual(facts);
  }
});

test('facts are no index', () => {
  const index = indexMessage(Buffer.from('From: a@b\r\n\r\nbody\r\n'));
  expect(requireIndex(index)).toBe(index);
  expect(() => requireIndex(factsOf(index))).toThrow('full index');
});

test('imapflow reads every ENVELOPE and BODYSTRUCTURE', async () => {
  for (const { name, bytes } of samples) {
    const { envelope, bodyStructure } = indexMessage(bytes);
    const literals: Buffer[] = [];
    const wire = `* 1 FETCH (ENVELOPE ${envelope} BODYSTRUCTURE ${bodyStructure})`;
    const line = wire.replace(/\{(\d+)\}\r\n/g, (whole, length: string, at: number) => {
      literals.push(Buffer.from(wire.slice(at + whole.length, at + whole.length + Number(length))));
      return `${whole}\0${length}\0`;
    });
    const short = line.replace(/\0(\d+)\0/g, '\0$1\0').split('\0');
    // Behind each literal's length its octets are cut out, as imapflow's stream does.
    let text = short[0]!;
    for (let i = 1; i < short.length; i += 2) text += short[i + 1]!.slice(Number(short[i]));
    const parsed = await parser(Buffer.from(text), { literals });
    expect(parsed.command, name).toBe('1');
  }
});

describe('messages cut and mixed at random', () => {
  const pool = samples.filter(({ bytes }) => bytes.length < 4000).map(({ bytes }) => bytes);
  const piece = fc.tuple(fc.nat(pool.length - 1), fc.nat(), fc.nat(600));
  const message = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) =>
    Buffer.concat(
      pieces.map(([which, from, length]) => {
        const bytes = pool[which]!;
        const start = from % (bytes.length + 1);
        return bytes.subarray(start, start + length);
      }),
    ),
  );

  test('give a sound index', () => {
    fc.assert(
      fc.property(message, (bytes) => checkIndex(bytes, indexMessage(bytes))),
      { seed: 1, numRuns: 1500 },
    );
  });

  test('and the same one in random chunks', () => {
    fc.assert(
      fc.property(message, fc.infiniteStream(fc.integer({ min: 1, max: 90 })), (bytes, sizes) => {
        expect(inPieces(bytes, () => sizes.next().value as number)).toEqual(indexMessage(bytes));
      }),
      { seed: 2, numRuns: 1000 },
    );
  });

  test('random octets too', () => {
    const soup = fc.array(
      fc.constantFrom(
        '\r\n',
        '\n',
        '\r',
        '--b',
        '--',
        'Content-Type: multipart/mixed; boundary=b',
        ':',
        ' ',
        'From: ',
        '(',
        '"',
        '\\',
        '<a@b>',
        '=?utf-8?B?',
        '?=',
        '\0',
        '\xff',
        ',',
        ';',
        'Content-Type: message/rfc822',
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(soup, (words) => {
        const bytes = Buffer.from(words.join(''), 'latin1');
        checkIndex(bytes, indexMessage(bytes));
        const index = indexMessage(bytes);
        expect(inPieces(bytes, () => 1)).toEqual(index);
        expect(fed(new MessageFactsReader(), bytes, () => 1)).toEqual(factsOf(index));
      }),
      { seed: 3, numRuns: 2000 },
    );
  });
});

test.each(BOMBS)('$name: indexed in bounded time, with a small structure', async ({ make }) => {
  const bytes = make();
  const index = inPieces(bytes, () => 65_536);
  const read = (size: number): unknown => inPieces(bytes.subarray(0, size), () => 65_536);
  expect(await growth(read, bytes.length)).toBeLessThan(PROPORTIONAL);
  expect(index.size).toBe(bytes.length);
  expect(index.bodyStructure.length).toBeLessThan(1_000_000);
  expect(index.envelope.length).toBeLessThan(1_000_000);
  checkEnvelope(parseImapValue(index.envelope));
  checkBody(parseImapValue(index.bodyStructure));
});
