import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { unpackPackages } from '../support/unpacked-packages.ts';
import { type Dovecot, startDovecot } from './dovecot.ts';

const TOUR = join(import.meta.dirname, 'roundcube_tour.php');

let roundcube: string;
let box: Box;
let dovecot: Dovecot;

beforeAll(async () => {
  roundcube = await mkdtemp(join(tmpdir(), 'roundcube-'));
  unpackPackages('roundcube', roundcube);
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8', SPAM_CHECKS: 'off' } });
  dovecot = await startDovecot();
}, 200_000);
afterAll(async () => {
  await dovecot[Symbol.asyncDispose]();
  await box[Symbol.asyncDispose]();
  await rm(roundcube, { recursive: true });
});

interface Tour {
  sort: Record<string, string[]>;
  threads: Record<string, [isError: boolean, count: number, tree: object]>;
  search: Record<string, string[]>;
  read: unknown[];
  error: string;
}

async function tour(...server: string[]): Promise<Tour> {
  const { stdout } = await promisify(execFile)('php', [TOUR, roundcube, ...server], { maxBuffer: 16 * 1024 * 1024 });
  return JSON.parse(stdout) as Tour;
}

test("Roundcube's IMAP library sees the same as in Dovecot: folders, SORT, THREAD, searches, structures, flags, moves", async () => {
  const ours = await tour('ssl://127.0.0.1', String(box.port('imaps')), box.address, box.password);
  const theirs = await tour('127.0.0.1', String(dovecot.port), 'roundcube', 'any');
  expect(ours).toEqual(theirs);
  // Both did it: nothing is equal because it failed.
  expect(ours.error).toBe('');
  expect(ours.sort['subject DESC']).toHaveLength(40);
  // REFERENCES joins conversations of one subject, RFC 5256 step 5.
  expect(Object.values(ours.threads).map(([failed, count]) => [failed, count])).toEqual([
    [false, 5],
    [false, 5],
    [false, 10],
  ]);
  expect(Object.values(ours.search).every((uids) => uids.length > 0)).toBe(true);
  expect(ours.read).toHaveLength(3);
});
