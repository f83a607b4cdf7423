import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BackupDirectory } from '../../mail/backup/directory-target.ts';
import { segmentsOf } from '../../mail/backup/log-segments.ts';
import { Repository } from '../../mail/backup/repository.ts';
import { findSnapshot, momentOf, restoreSnapshot } from '../../mail/backup/restore-snapshot.ts';
import { checkStore, isSound } from '../../mail/store/check/check-store.ts';
import { startBox } from '../support/box.ts';
import { repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';

const ROUNDS = repetitions(60, 6);
const SEED = 20_261_126;
/** For a process that starts on a busy machine, and makes a snapshot first. */
const PATIENCE_MS = 120_000;

/** The process that copies commits of a data directory; undefined: it does not run now. */
function copier(dataDir: string): number | undefined {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (words.includes('--continuous') && words.includes(dataDir)) return Number(pid);
    } catch {
      // It ended meanwhile.
    }
  }
  return undefined;
}

/** Message-ID of each message in a restored directory. */
function idsIn(dataDir: string): Set<string> {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'));
  const rows = db.prepare('SELECT m.envelope FROM email e JOIN email_meta m ON m.email_id = e.id').all();
  return new Set(rows.map(({ envelope }) => /<([^@<>]+)@load\.test>/.exec(String(envelope))?.[1] ?? ''));
}

test(`commits are copied while the server and the copying process are killed, ${ROUNDS} rounds: each moment that was copied restores with all that was acknowledged before it`, async () => {
  const target = mkdtempSync(join(tmpdir(), 'continuous-target-'));
  const scratch = mkdtempSync(join(tmpdir(), 'continuous-scratch-'));
  try {
    await using box = await startBox({
      settings: { ...UNDER_LOAD, BACKUP_TARGET: target, BACKUP_CONTINUOUS: '1s', BACKUP_EVERY: '1d' },
    });
    const random = seeded(SEED);
    const ledger = new Ledger();
    let pokes = 0;
    const counts = { killed: 0, restored: 0, segments: 0 };
    const restoredAt = async (repository: Repository, at?: number): Promise<number> => {
      const point = await findSnapshot(repository, at);
      const directory = join(scratch, String(counts.restored++));
      await restoreSnapshot(repository, point, directory);
      const moment = momentOf(point);
      const before = [...ledger.acknowledged].filter(([, time]) => time < moment).map(([id]) => id);
      const found = idsIn(directory);
      expect(
        before.filter((id) => !found.has(id)),
        'acknowledged before the moment, and missing',
      ).toEqual([]);
      expect(isSound(await checkStore(directory))).toBe(true);
      rmSync(directory, { recursive: true });
      counts.segments = Math.max(counts.segments, point.segments.length);
      return moment;
    };
    for (let round = 0; round < ROUNDS; round++) {
      const sending = load({
        port: box.port('smtp'),
        queue: numberedMany(`copied${round}`, 80, SEED + round),
        ledger,
        clients: 2,
      });
      const fate = round % 3;
      await delay(random(800));
      if (fate === 1) {
        await box.kill();
        await sending;
        await box.start();
        counts.killed++;
      }
      const pid = fate === 2 ? copier(box.dataDir) : undefined;
      if (pid !== undefined) {
        process.kill(pid, 'SIGKILL');
        counts.killed++;
      }
      await sending;
      const last = Math.max(0, ...ledger.acknowledged.values());
      const copied = await expect
        .poll(
          async () => {
            // A moment is only named by what was committed after the one before.
            await box.ask('add_mailbox', { address: `later${pokes++}@box.test` });
            return newestMoment(target);
          },
          { timeout: PATIENCE_MS, interval: 500 },
        )
        .toBeGreaterThan(last)
        .then(() => Repository.open(new BackupDirectory(target), {}));
      expect(await restoredAt(copied)).toBeGreaterThan(last);
      await restoredAt(copied, last - random(3_000)).catch((error: Error) =>
        // Before the first snapshot.
        expect(error.message).toMatch(/No snapshot in .* is that old/),
      );
    }
    expect(counts.killed).toBeGreaterThan(0);
    expect(counts.segments).toBeGreaterThan(0);
    console.log(`${ROUNDS} rounds, ${JSON.stringify(counts)}, ${ledger.acknowledged.size} messages, seed ${SEED}`);
  } finally {
    rmSync(target, { recursive: true, force: true });
    rmSync(scratch, { recursive: true, force: true });
  }
});

async function newestMoment(target: string): Promise<number> {
  const repository = await Repository.open(new BackupDirectory(target), {}).catch(() => undefined);
  const newest = (await repository?.readableManifests())?.manifests.at(-1);
  if (repository === undefined || newest === undefined) return 0;
  return (await segmentsOf(repository, newest.id)).at(-1)?.at ?? newest.at;
}
