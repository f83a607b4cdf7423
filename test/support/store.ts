import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quiet } from '../../mail/log.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { addAccount } from '../../mail/store/account/account.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { openForWriting } from '../../mail/store/engine/connection.ts';
import { migrate, type Migration } from '../../mail/store/engine/migrate.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import type { ThreadParts } from '../../mail/store/engine/thread.ts';
import { MailStore } from '../../mail/store/store.ts';
import { storeParts } from '../../src/start/store-parts.ts';
import { dropTestDatabase, testDatabase } from './test-database.ts';

/** The engines that the contract suites run on. */
export const engines = {
  'writer thread': new URL('../../src/start/store-thread.ts', import.meta.url),
  'calling thread': mailParts(),
} as const;

export interface TestStore extends AsyncDisposable {
  store: MailStore;
  dataDir: string;
  fatal: Error[];
  clock: { now: number };
  /** Closes and opens again on the same directory. */
  reopen(): Promise<MailStore>;
}

/** Databases with nothing but the schema, by their ledgers: a copy takes a tenth of what making one does. */
const templates = new Map<string, string>();

function copyTemplate(migrations: readonly Migration[], path: string): void {
  const ledgers = migrations.map(({ ledger, number }) => `${ledger} ${number}`).join();
  let template = templates.get(ledgers);
  if (template === undefined) {
    const directory = mkdtempSync(join(tmpdir(), 'mailstead-template-'));
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
    template = join(directory, 'template.db');
    const connection = openForWriting(template);
    migrate(connection, migrations);
    connection.close();
    templates.set(ledgers, template);
  }
  copyFileSync(template, path);
}

/** Migrations of the parts; those of the thread are all. */
function migrationsOf(parts: URL | ThreadParts): readonly Migration[] {
  return parts instanceof URL ? storeParts().migrations : parts.migrations;
}

/** A store in a directory of its own, which goes with it. `from`: a data directory of SQLite that it is a copy of. */
export async function testStore(
  engine: keyof typeof engines | ThreadParts = 'calling thread',
  from?: string,
): Promise<TestStore> {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailstead-test-'));
  const parts = typeof engine === 'string' ? engines[engine] : engine;
  const database = await testDatabase(migrationsOf(parts));
  if (from !== undefined) cpSync(from, dataDir, { recursive: true });
  else if (database === undefined && !(parts instanceof URL))
    copyTemplate(parts.migrations, join(dataDir, 'mailstead.db'));
  const fatal: Error[] = [];
  const clock = { now: Date.UTC(2026, 0, 1) };
  const open = (): Promise<MailStore> =>
    MailStore.open({
      dataDir,
      database,
      engine: parts,
      keepFree: 0,
      clock: () => clock.now,
      log: quiet,
      meter: quiet,
      fatal: (error) => fatal.push(error),
    });
  const test: TestStore = {
    store: await open(),
    dataDir,
    fatal,
    clock,
    async reopen() {
      await test.store[Symbol.asyncDispose]();
      test.store = await open();
      return test.store;
    },
    async [Symbol.asyncDispose]() {
      await test.store[Symbol.asyncDispose]();
      if (database !== undefined) await dropTestDatabase(database);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return test;
}

/** An account `<local>@box.test` with a password nobody knows. Answers its id and its inbox. */
export async function testAccount(
  store: MailStore,
  local = 'me',
  { tenant = 1, name = 'box.test' } = {},
): Promise<{ account: number; inbox: number }> {
  const domain = await store.write(addDomain, { tenant, name, verified: true });
  if (domain.kind === 'taken') throw new Error('the test domain is taken');
  const added = await store.write(addAccount, {
    tenant,
    domain: domain.id,
    address: `${local}@${name}`,
    key: `${local}@${name}`,
    salt: new Uint8Array(16),
    iterations: 4096,
    credential: {
      ref: `ref-${local}`,
      kind: 'mailbox',
      name: 'password',
      scopes: ['imap', 'smtp'],
      storedKey: new Uint8Array(32),
      serverKey: new Uint8Array(32),
      sealed: null,
      expiresAt: null,
    },
  });
  if (added.kind !== 'added') throw new Error(added.kind);
  const inbox = await store.read(findMailbox, { account: added.account, name: 'INBOX' });
  if (inbox === undefined) throw new Error('no inbox');
  return { account: added.account, inbox: inbox.id };
}
