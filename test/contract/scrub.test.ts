import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quiet } from '../../mail/log.ts';
import { ScrubJob } from '../../mail/jobs/scrub.ts';
import { putMail } from '../support/put-mail.ts';
import { rawRows } from '../support/raw-change.ts';
import { testAccount, testStore } from '../support/store.ts';

const DAY_MS = 86_400_000;

test('a round compares all messages, names the damaged ones, and the next begins a week later', async () => {
  await using box = await testStore();
  const { account } = await testAccount(box.store);
  const texts = Array.from(
    { length: 150 },
    (_, n) => `Subject: message ${n}\n\n${'x'.repeat(n === 140 ? 70_000 : 10)}\n`,
  );
  for (const [n, text] of texts.entries()) await putMail(box.store, { account, receivedAt: n }, text);
  const logged: object[] = [];
  const log = { ...quiet, error: (fields: object) => void logged.push(fields) };
  const job = new ScrubJob(box.store, () => box.clock.now, log);
  const state = (sql: string): Promise<unknown[]> => rawRows(box.store, sql);
  await job.run();
  expect(await state('SELECT after_blob, ended_at FROM scrub')).toEqual([{ after_blob: 100, ended_at: null }]);
  await job.run();
  expect(await state('SELECT after_blob, ended_at FROM scrub')).toEqual([{ after_blob: 0, ended_at: box.clock.now }]);
  expect(logged).toEqual([]);

  const blobs = join(box.dataDir, 'blobs');
  const [file = ''] = readdirSync(blobs, { recursive: true, encoding: 'utf8' }).filter((name) => name.length > 30);
  const octets = readFileSync(join(blobs, file));
  writeFileSync(join(blobs, file), Buffer.from(octets).fill('y', 500, 501));
  await job.run();
  expect(logged, 'the next round is not due').toEqual([]);
  box.clock.now += 7 * DAY_MS;
  await job.run();
  await job.run();
  expect(logged).toEqual([
    { address: 'me@box.test', folder: 'INBOX', uid: 141, received: '1970-01-01T00:00:00.140Z', problem: 'changed' },
  ]);
  expect(await state('SELECT blob_id, problem FROM damaged_blob')).toEqual([{ blob_id: 141, problem: 'changed' }]);
  expect(box.store.unreadable).toBe(1);

  writeFileSync(join(blobs, file), octets);
  box.clock.now += 7 * DAY_MS;
  await job.run();
  await job.run();
  expect(await state('SELECT blob_id FROM damaged_blob')).toEqual([]);
});
