import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createTransport } from 'nodemailer';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkStore, isSound } from '../../mail/store/check/check-store.ts';
import { type Box, startBox } from '../support/box.ts';
import { type DiskRecord, type Left, LoggedDisk } from '../support/disk-log/disk.ts';
import { DiskLog } from '../support/disk-log/logged-process.ts';
import { repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';

const CUTS = repetitions(60, 12);
const SEED = 20_261_124;

let directory: string;
let dataDir: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'power-cut-'));
  dataDir = join(directory, 'data');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Octets of the log when each id was acknowledged. */
type Acknowledged = Map<string, number>;

/** Sends mail to the box and out of it at the same time. */
async function sendBoth(
  box: Box,
  log: DiskLog,
  messages: number,
): Promise<{ inbound: Acknowledged; queued: Acknowledged }> {
  const inbound: Acknowledged = new Map();
  const queued: Acknowledged = new Map();
  const ledger = new Ledger();
  ledger.onAcknowledged = () => inbound.set([...ledger.acknowledged.keys()].at(-1) ?? '', log.size);
  const queue = numberedMany('cut', messages, SEED);
  const sendAll = async (): Promise<void> => {
    // A filter that has not started yet defers.
    while (queue.length > 0) await load({ port: box.port('smtp'), queue, ledger, clients: 6 });
  };
  await Promise.all([sendAll(), submitMany(box, log, messages / 10, queued)]);
  expect(inbound.size).toBe(messages);
  return { inbound, queued };
}

/** Submits messages for elsewhere, which wait in the queue. */
async function submitMany(box: Box, log: DiskLog, count: number, queued: Acknowledged): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: box.port('submissions'),
    secure: true,
    auth: { user: box.address, pass: box.password },
    tls: { rejectUnauthorized: false },
    pool: true,
    maxConnections: 1,
  });
  for (let n = 0; n < count; n++) {
    const to = `out${n}@far.example`;
    await transport.sendMail({ from: box.address, to, subject: to, text: to });
    queued.set(to, log.size);
  }
  transport.close();
}

interface Kept {
  inbound: Set<string>;
  queued: Set<string>;
}

/** Ids of the messages and recipients in the queue that a directory has. */
function keptIn(path: string): Kept {
  using db = new DatabaseSync(join(path, 'mailstead.db'));
  const envelopes = db.prepare('SELECT m.envelope FROM email e JOIN email_meta m ON m.email_id = e.id').all();
  const rows = db.prepare('SELECT recipient FROM queue').all();
  return {
    inbound: new Set(envelopes.map(({ envelope }) => /<([^@<>]+)@load\.test>/.exec(String(envelope))?.[1] ?? '')),
    queued: new Set(rows.map(({ recipient }) => String(recipient))),
  };
}

const lostOf = (acknowledged: Acknowledged, kept: Set<string>, at: number): string[] =>
  [...acknowledged].flatMap(([id, end]) => (end <= at && !kept.has(id) ? [id] : []));

/** State of the disk after a cut: nothing that was not flushed, or some sectors of it. */
function leftBy(cut: number, random: (below: number) => number): Left {
  return cut % 2 === 0 ? 'cut' : { torn: () => random(2) === 0 };
}

/** Cuts at `count` moments after the first acknowledged message, in order; calls back with the directory that is left. */
async function cutAt(
  records: readonly DiskRecord[],
  { count, first, disk }: { count: number; first: number; disk: LoggedDisk },
  check: (path: string, at: number, cut: number) => Promise<void>,
): Promise<void> {
  const random = seeded(SEED);
  const from = records.findIndex(({ end }) => end >= first);
  const moments = Array.from({ length: count }, () => from + random(records.length - from)).toSorted((a, b) => a - b);
  let next = 0;
  for (const [cut, moment] of moments.entries()) {
    for (; next <= moment; next++) disk.apply(records[next]!);
    const path = join(directory, `cut-${cut}`);
    disk.writeTo(path, leftBy(cut, random));
    await check(join(path, 'data'), records[moment]!.end, cut);
    rmSync(path, { recursive: true });
  }
}

test(`${CUTS} power cuts while mail comes in and goes out: nothing acknowledged is lost; without flushes it is`, async () => {
  using log = new DiskLog(directory);
  const box = await startBox({ dataDir, settings: UNDER_LOAD, wrapper: log.wrapper });
  await using _ = box;
  const { inbound, queued } = await sendBoth(box, log, 600);
  await box.kill();
  const records = log.records();
  const first = Math.min(...inbound.values());
  const counts = { cuts: 0, lost: 0, started: 0 };
  await cutAt(records, { count: CUTS, first, disk: new LoggedDisk() }, async (path, at, cut) => {
    if (cut % 6 === 0) {
      await using again = await startBox({ dataDir: path, settings: UNDER_LOAD });
      await again.stop();
      counts.started++;
    }
    const kept = keptIn(path);
    expect([...lostOf(inbound, kept.inbound, at), ...lostOf(queued, kept.queued, at)], `cut ${cut}`).toEqual([]);
    expect(await checkStore(path).then(isSound), `cut ${cut}`).toBe(true);
    counts.cuts++;
  });
  const unflushed = records.filter(({ kind, offset }) => kind !== 'flush' || offset === 0);
  await cutAt(unflushed, { count: 4, first, disk: new LoggedDisk() }, async (path, at) => {
    await Promise.resolve();
    counts.lost += lostOf(inbound, keptOrNone(path).inbound, at).length;
  });
  expect(counts.lost, 'lost without flushes').toBeGreaterThan(0);
  console.log(
    `${counts.cuts} cuts in ${records.length} calls, ${counts.started} starts after them, 0 lost; ${counts.lost} without flushes`,
  );
});

function keptOrNone(path: string): Kept {
  try {
    return keptIn(path);
  } catch {
    return { inbound: new Set(), queued: new Set() };
  }
}
