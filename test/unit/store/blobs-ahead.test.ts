import { expect, test } from 'vitest';
import type { Row, Value } from '../../../mail/store/engine/types.ts';
import { BlobsAhead } from '../../../mail/store/search/blobs-ahead.ts';

const LIST = Array.from({ length: 40 }, (_, at) => 1_000 - at);

/** Blobs whose octet is the last one of their number; `missing` ones have no row, and a list with `damaged` cannot be read. */
function mailWith({ missing = 0, damaged = 0 } = {}): {
  statements: string[];
  all: <T extends Row>(sql: string, params: readonly Value[]) => T[];
  get: <T extends Row>(sql: string, params: readonly Value[]) => T | undefined;
} {
  const statements: string[] = [];
  const rowOf = (id: number): Row => ({ id, file: null, data: Uint8Array.of(id % 256) });
  return {
    statements,
    all: <T extends Row>(_: string, [list]: readonly Value[]) => {
      const ids = JSON.parse(String(list)) as number[];
      statements.push(`${ids.length} blobs`);
      if (ids.includes(damaged)) throw Object.assign(new Error('a page is damaged'), { code: 'XX001' });
      // In another order than statements for, as a database may return them.
      return ids
        .filter((id) => id !== missing)
        .toReversed()
        .map(rowOf) as T[];
    },
    get: <T extends Row>(_: string, [id]: readonly Value[]) => {
      statements.push(`blob ${String(id)}`);
      if (id === damaged) throw new Error('this page is damaged');
      return id === missing ? undefined : (rowOf(Number(id)) as T);
    },
  };
}

function octetAt(blobs: BlobsAhead, at: number): number | undefined {
  using octets = blobs.open(at);
  return octets.read(0, 10)[0];
}

test('blobs of a list are read some at a time', () => {
  const mail = mailWith();
  const blobs = new BlobsAhead(mail, LIST, '/nowhere');
  expect(LIST.map((_, at) => octetAt(blobs, at))).toEqual(LIST.map((blob) => blob % 256));
  expect(mail.statements).toEqual(['16 blobs', '16 blobs', '8 blobs']);
});

test('a blob that was purged is empty', () => {
  const blobs = new BlobsAhead(mailWith({ missing: LIST[1]! }), LIST, '/nowhere');
  expect([0, 1, 2].map((at) => octetAt(blobs, at))).toEqual([LIST[0]! % 256, undefined, LIST[2]! % 256]);
});

test('where one is damaged, each is read alone, and only that one fails', () => {
  const mail = mailWith({ damaged: LIST[1]! });
  const blobs = new BlobsAhead(mail, LIST, '/nowhere');
  expect(octetAt(blobs, 0)).toBe(LIST[0]! % 256);
  expect(() => octetAt(blobs, 1)).toThrow('this page is damaged');
  expect(octetAt(blobs, 2)).toBe(LIST[2]! % 256);
  expect(mail.statements).toEqual(['16 blobs', 'blob 1000', 'blob 999', 'blob 998']);
});

test('any other error of reading ahead is reported', () => {
  const all = (): never => {
    throw new Error('the database does not answer');
  };
  const blobs = new BlobsAhead({ ...mailWith(), all }, LIST, '/nowhere');
  expect(() => octetAt(blobs, 0)).toThrow('does not answer');
});
