import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quiet } from '../../mail/log.ts';
import { query } from '../../mail/store/engine/types.ts';
import { TextWorker } from '../../mail/store/search/text-worker.ts';
import { SmallDisk } from '../support/disk.ts';
import { createJmapFixture } from '../support/jmap-fixture.ts';
import { Garden } from '../support/mail-garden.ts';

const hits = query('test-hits', async (rx): Promise<number> =>
  Number((await rx.get<{ n: number }>(`SELECT count(*) AS n FROM message_text WHERE message_text MATCH 'apple'`))?.n),
);

test('a disk that is full while words are indexed: mail goes on, searches say later, and it recovers by itself', async () => {
  using disk = new SmallDisk('tmpfs', 16);
  await using world = await createJmapFixture();
  const garden = await Garden.plant(world);
  const spec = { subject: 's', from: 'a@box.test', to: 'b@box.test', sentAt: 1e12, receivedAt: 1e12 };
  const write = (n: number): Promise<unknown> => {
    const words = Array.from({ length: 400 }, (_, i) => `w${n}x${i}`).join(' ');
    return garden.append({ ...spec, body: `apple ${words}` }, world.inbox);
  };
  const { store, dataDir } = world.box;
  const path = join(disk.path, 'text.db');
  const told: string[] = [];
  const count = (name: string): void => void told.push(name);
  const place = { path, database: join(dataDir, 'mailstead.db'), blobs: store.files.directory };
  const worker = new TextWorker(place, quiet, { ...quiet, count });
  const search = () => worker.search(hits, undefined, { account: world.account, patienceMs: 60_000 });
  for (let n = 0; n < 50; n++) await write(n);
  expect(await search()).toEqual({ kind: 'found', value: 50 });
  // In the middle of a batch, in the log, and with nothing left at all.
  for (const left of [100_000, 30_000, 0]) {
    disk.fill(left);
    for (let n = 0; n < 50; n++) await write(1000 + left + n);
    expect(await search()).toEqual({ kind: 'unavailable' });
    disk.release();
  }
  // A merge of segments, which begins by itself after a pause, may fail too.
  expect(told.length).toBeGreaterThanOrEqual(3);
  expect(new Set(told)).toEqual(new Set(['text_failures_total']));
  expect(await search()).toEqual({ kind: 'found', value: 200 });
  await worker.close();
  const db = new DatabaseSync(path, { readOnly: true });
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  db.close();
}, 240_000);
