import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DatabaseConnection, openForReading, openForWriting } from '../../../mail/store/engine/connection.ts';
import { ReaderPool } from '../../../mail/store/engine/reader-pool.ts';
import { query } from '../../../mail/store/engine/types.ts';

let directory: string;
let writer: DatabaseConnection;
let open: DatabaseConnection[];
let readers: ReaderPool;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mailstead-readers-'));
  const path = join(directory, 'box.db');
  writer = openForWriting(path);
  writer.script('CREATE TABLE n (n INTEGER) STRICT; INSERT INTO n VALUES (1)');
  open = [];
  readers = new ReaderPool(() => {
    const connection = openForReading(path);
    open.push(connection);
    return connection;
  });
});
afterEach(() => {
  readers.close();
  writer.close();
  rmSync(directory, { recursive: true });
});

interface ScanInput {
  account: number;
  until: () => boolean;
  /** Called after each statement; the first one begins the snapshot. */
  onRead?: () => void;
}

/** Goes on until it is let go, with a statement each millisecond, as a long scan does; answers what it read. */
const scan = query('test-scan', async (rx, { until, onRead }: ScanInput): Promise<number[]> => {
  const seen: number[] = [];
  while (!until()) {
    const began = performance.now();
    while (performance.now() - began < 1);
    seen.push((await rx.get<{ n: number }>('SELECT n FROM n'))?.n ?? 0);
    onRead?.();
  }
  return seen;
});
const glance = query(
  'test-glance',
  async (rx, _: { account: number }) => (await rx.get<{ n: number }>('SELECT n FROM n'))?.n,
);
const fails = query('test-fails', (rx, _: { account: number }) => rx.get('SELECT n FROM nowhere'));

test('a long scan of one account holds up no other, and sees one moment all the while', async () => {
  let over = false;
  const { promise: begun, resolve: onRead } = Promise.withResolvers<void>();
  const long = readers.query(scan, { account: 1, until: () => over, onRead });
  await begun;
  expect(await readers.query(glance, { account: 2 })).toBe(1);
  writer.script('UPDATE n SET n = 2');
  expect(await readers.query(glance, { account: 3 })).toBe(2);
  over = true;
  expect(new Set(await long)).toEqual(new Set([1]));
});

test('of one account each waits for the one before', async () => {
  let over = false;
  const ended: string[] = [];
  const long = readers.query(scan, { account: 1, until: () => over }).then(() => ended.push('long'));
  const short = readers.query(glance, { account: 1 }).then(() => ended.push('short'));
  await readers.query(glance, { account: 2 });
  expect(ended).toEqual([]);
  over = true;
  await Promise.all([long, short]);
  expect(ended).toEqual(['long', 'short']);
});

test('more than 24 wait, and what was opened for them is closed again', async () => {
  let over = false;
  const until = (): boolean => over;
  const long = Array.from({ length: 40 }, (_, n) => readers.query(scan, { account: n, until }));
  await expect.poll(() => open.length).toBe(24);
  await new Promise((resolve) => setTimeout(resolve, 50));
  over = true;
  await Promise.all(long);
  expect(open).toHaveLength(24);
  const closed = open.filter((connection) => {
    try {
      return connection.get('SELECT 1', []) === undefined;
    } catch {
      return true;
    }
  });
  expect(closed).toHaveLength(23);
});

test('one that fails takes none with it', async () => {
  let over = false;
  const long = readers.query(scan, { account: 1, until: () => over });
  for (const account of [1, 2]) {
    const failed = readers.query(fails, { account });
    if (account === 1) over = true;
    await expect(failed).rejects.toThrow('nowhere');
  }
  expect(await long).toEqual(expect.any(Array));
  expect(await readers.query(glance, { account: 1 })).toBe(1);
});

test('a short query passes long ones, which go on', async () => {
  let [over, steps] = [false, 0];
  const until = (): boolean => {
    steps++;
    return over;
  };
  const long = Array.from({ length: 8 }, (_, n) => readers.query(scan, { account: n, until }));
  await expect.poll(() => steps).toBeGreaterThan(2000);
  const short = query('test-short', async (rx, _: { account: number }): Promise<number> => {
    await rx.get('SELECT n FROM n');
    const before = steps;
    for (let slice = 0; slice < 3; slice++) {
      const began = performance.now();
      while (performance.now() - began < 21);
      await rx.get('SELECT n FROM n');
    }
    return steps - before;
  });
  // It gave way three times: to all of them this would be 480 steps.
  expect(await readers.query(short, { account: 100 })).toBeLessThan(240);
  const before = steps;
  await expect.poll(() => steps).toBeGreaterThan(before + 100);
  over = true;
  await Promise.all(long);
});
