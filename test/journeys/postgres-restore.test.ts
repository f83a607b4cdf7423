import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { JmapClient } from '../support/jmap-client.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { isPostgresInstalled, type PostgresServer, startPostgres } from '../support/postgres.ts';

const SEED = 20_261_129;
const RESTORED = 'restored from a dump';

interface SeenInbox {
  uidvalidity: number;
  uids: number[];
  state: string;
  ids: string[];
}

/** Numbers of the inbox that IMAP and JMAP clients keep. */
async function inboxOf(box: Box): Promise<SeenInbox> {
  using reader = await MailboxReader.open(box.port('imap'));
  const selected = (await reader.command('EXAMINE INBOX')).toString('latin1');
  const found = (await reader.command('UID SEARCH ALL')).toString('latin1');
  const account = { user: box.address, password: box.password };
  const jmap = await JmapClient.discover(`http://127.0.0.1:${box.port('http')}`, account);
  const { ids } = (await jmap.call('Email/query', {})) as { ids: string[] };
  const { state } = (await jmap.call('Email/get', { ids: [] })) as { state: string };
  return {
    uidvalidity: Number(/UIDVALIDITY (\d+)/.exec(selected)?.[1]),
    uids: (/^\* SEARCH(.*)\r$/m.exec(found)?.[1] ?? '').trim().split(' ').filter(Boolean).map(Number),
    state,
    ids: ids.toSorted(),
  };
}

async function receive(box: Box, name: string): Promise<void> {
  const ledger = new Ledger();
  await load({ port: box.port('smtp'), queue: numberedMany(name, 3, SEED), ledger, clients: 1 });
  expect(ledger.acknowledged.size).toBe(3);
}

/** Copies the database as an operator does. */
function dumpAndRestore(server: PostgresServer, file: string): { restore(): string } {
  const at = ['--host', server.socket, '--username', 'mailstead'];
  execFileSync('pg_dump', [...at, '--format', 'custom', '--file', file, 'postgres']);
  return {
    restore() {
      execFileSync('createdb', [...at, '--template', 'template0', 'restored']);
      execFileSync('pg_restore', [...at, '--exit-on-error', '--dbname', 'restored', file]);
      return server.url.replace('/postgres?', '/restored?');
    },
  };
}

describe.skipIf(!isPostgresInstalled)('a dump of PostgreSQL (postgresql-15 of Debian) that is restored', () => {
  test('has new numbers, so that no client takes a message for another one that came after the dump', async () => {
    using server = startPostgres();
    const dataDir = mkdtempSync(join(tmpdir(), 'postgres-restore-'));
    const open = (url: string): Promise<Box> => startBox({ dataDir, settings: { ...UNDER_LOAD, DATABASE: url } });
    const said = (box: Box): boolean => box.log.some(({ msg }) => msg.includes(RESTORED));
    try {
      await using first = await open(server.url);
      await receive(first, 'before');
      const dump = dumpAndRestore(server, join(dataDir, 'dump'));
      await receive(first, 'after');
      const old = await inboxOf(first);
      expect(old.uids).toEqual([1, 2, 3, 4, 5, 6]);
      await first.restart();
      expect((await inboxOf(first)).uidvalidity).toBe(old.uidvalidity);
      expect(said(first)).toBe(false);
      await first.stop();

      await using restored = await open(dump.restore());
      expect(said(restored)).toBe(true);
      const back = await inboxOf(restored);
      expect(back.uids).toHaveLength(3);
      expect(back.uidvalidity).toBeGreaterThan(old.uidvalidity);
      expect(back.state).not.toBe(old.state);
      await receive(restored, 'later');
      const later = await inboxOf(restored);
      const given = later.ids.filter((id) => !back.ids.includes(id));
      expect(given).toHaveLength(3);
      expect(given.filter((id) => old.ids.includes(id))).toEqual([]);

      // Once, not at each start.
      await restored.restart();
      expect(await inboxOf(restored)).toEqual(later);
      await restored.stop();
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  }, 300_000);
});
