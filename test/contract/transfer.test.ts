import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listMailboxes } from '../../mail/store/mailbox/mailbox.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { exportRows } from '../../mail/store/transfer/export-rows.ts';
import { exportAccount } from '../../mail/transfer/exporter.ts';
import { DirectoryTarget, ZipTarget } from '../../mail/transfer/export-target.ts';
import { importFiles } from '../../mail/transfer/file-import.ts';
import { ImportLog } from '../../mail/transfer/import-log.ts';
import { fillWithOddMail } from '../support/odd-mailbox.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const MESSAGES = 1_000;

let box: TestStore;
let directory: string;
beforeAll(async () => {
  box = await testStore();
  directory = await mkdtemp(join(tmpdir(), 'transfer-'));
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

/** Everything that must survive: by folder, in the order of UIDs. */
async function contentOf(store: MailStore, account: number): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const { id, name } of await store.read(listMailboxes, { account })) {
    const rows = await store.read(exportRows, { account, mailbox: id, after: 0, limit: 10_000 });
    if (rows.length === 0) continue;
    found[name] = await Promise.all(
      rows.map(async ({ trace, blob, size, flags, receivedAt }) => {
        const octets = await store.blob(blob, 0, size - trace.length);
        const hash = createHash('sha256').update(trace, 'latin1').update(octets).digest('hex');
        return [hash, flags.bits, [...flags.keywords].map((word) => word.toLowerCase()).sort(), receivedAt];
      }),
    );
  }
  return found;
}

async function importAll(account: number, path: string, pass: number, folder?: string): Promise<ImportLog> {
  const log = new ImportLog();
  const stop = new AbortController().signal;
  const clock = (): number => box.clock.now;
  await importFiles(box.store, { account, path, folder, spool: directory, maxOctets: 1e7, pass, clock, stop }, log);
  return log;
}

describe('export and import', () => {
  let source: number;
  let content: Record<string, unknown[]>;
  beforeAll(async () => {
    ({ account: source } = await testAccount(box.store, 'source'));
    await fillWithOddMail(box.store, source, MESSAGES);
    content = await contentOf(box.store, source);
  });

  test.each([
    ['maildir', 'directory'],
    ['maildir', 'zip'],
    ['mbox', 'directory'],
    ['mbox', 'zip'],
    ['eml', 'directory'],
    ['eml', 'zip'],
  ] as const)(
    'as %s in a %s bring back every octet, flag, keyword and time, and a second import adds nothing',
    async (format, shape) => {
      const path = join(directory, `${format}-${shape}`);
      const target = shape === 'zip' ? await ZipTarget.create(path) : await DirectoryTarget.create(path);
      const plan = { account: source, address: 'source@box.test', format, below: '', now: box.clock.now };
      const counts = await exportAccount(box.store, plan, target);
      await target.finish();
      expect(counts).toMatchObject({ messages: MESSAGES, damaged: [] });
      const { account } = await testAccount(box.store, `${format}-${shape}`);
      const first = await importAll(account, path, 1);
      expect(first.report.problems).toEqual([]);
      expect(first.progress.imported + first.progress.known).toBe(MESSAGES);
      expect(await contentOf(box.store, account)).toEqual(content);
      const second = await importAll(account, path, 2);
      expect(second.progress).toMatchObject({ imported: 0, known: MESSAGES, skipped: 0 });
      expect(await contentOf(box.store, account)).toEqual(content);
    },
  );

  test('a target that exists is refused and stays', async () => {
    const path = join(directory, 'taken');
    await writeFile(path, 'mine');
    await expect(ZipTarget.create(path)).rejects.toThrow('exists');
    await expect(DirectoryTarget.create(path)).rejects.toThrow('exists');
  });
});
