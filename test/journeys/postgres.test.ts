import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { expectKept, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { JmapClient } from '../support/jmap-client.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { tool } from '../support/mcp.ts';
import { isPostgresInstalled, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';

const PASSWORD = randomBytes(12).toString('hex');
const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
const SEED = 20_261_124;

function acknowledged(ledger: Ledger, target: number): Promise<void> {
  return new Promise((resolve) => {
    ledger.onAcknowledged = () => {
      if (ledger.acknowledged.size >= target) resolve();
    };
  });
}

describe.skipIf(!isPostgresInstalled)('a server with its mail in PostgreSQL (postgresql-15 of Debian)', () => {
  let server: PostgresServer;
  let proxy: PostgresProxy;
  let box: Box;
  let directory: string;
  let settings: Record<string, string>;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'postgres-'));
    writeFileSync(join(directory, 'password'), `${PASSWORD}\n`);
    server = startPostgres();
    proxy = await PostgresProxy.open(server);
    settings = { ...UNDER_LOAD, DATABASE: proxy.url, DATABASE_PASSWORD_FILE: join(directory, 'password') };
    box = await startBox({ settings });
  }, 300_000);

  afterAll(async () => {
    await box[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    server[Symbol.dispose]();
    rmSync(directory, { recursive: true });
  });

  /** Runs a program of the command line that must fail; returns its error. */
  async function refusalOf(words: readonly string[], env: Record<string, string>): Promise<string> {
    const failed = promisify(execFile)(COMMAND, words, { env: { ...box.env, ...env } });
    return failed.then(
      () => 'it did not fail',
      (error: { stderr: string }) => error.stderr,
    );
  }

  test('mail comes in by SMTP, and IMAP, JMAP and full text find it', async () => {
    const ledger = new Ledger();
    await load({ port: box.port('smtp'), queue: numberedMany('first', 41, SEED), ledger, clients: 2 });
    expect(ledger.refusals).toEqual([]);
    await expectKept(box, ledger, 0);
    using reader = await MailboxReader.open(box.port('imap'));
    await reader.command('CREATE Hay');
    await reader.append('Hay', Buffer.from('Subject: hay\r\n\r\na needle in it\r\n'));
    await reader.command('SELECT Hay');
    expect((await reader.command('SEARCH TEXT needle')).toString()).toMatch(/\* SEARCH 1\r\n/);
    const jmap = await JmapClient.discover(`http://127.0.0.1:${box.port('http')}`, {
      user: box.address,
      password: box.password,
    });
    expect(await jmap.call('Email/query', { filter: { text: 'needle' } })).toMatchObject({ ids: [expect.any(String)] });
  });

  test('an agent sends by MCP, and the letter is in the queue', async () => {
    const token = /\bmst_[0-9a-f]+/.exec(box.printed.join('\n'))?.[0] ?? '';
    const base = `http://127.0.0.1:${box.port('http')}`;
    const letter = { from: box.address, to: ['ann@remote.example'], subject: 'from an agent', text: 'Hello' };
    const { status, text } = await tool(base, 'send_email', letter, token);
    expect(status, text).toBeLessThan(300);
    expect(JSON.stringify(await box.ask('list_box_queue'))).toContain('ann@remote.example');
  });

  test('a second server on the database is refused in words, and so is an upgrade check', async () => {
    const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`MAILSTEAD_${name}`, value]));
    const second = mkdtempSync(join(directory, 'second-'));
    expect(await refusalOf(['serve'], { ...env, MAILSTEAD_DATA_DIR: second })).toContain(
      'Another Mailstead writes to this database',
    );
    expect(await refusalOf(['upgrade', '--check'], env)).toContain('Run pg_dump before an upgrade');
    expect(await refusalOf(['backup', directory], env)).toContain('Run pg_dump, then copy the data directory');
  });

  test('kills of the server lose nothing that was acknowledged', async () => {
    const ledger = new Ledger();
    const queue = numberedMany('kill', 120, SEED + 1);
    for (const target of [30, 60, 90]) {
      const running = load({ port: box.port('smtp'), queue, ledger, clients: 4 });
      await Promise.race([acknowledged(ledger, target), running]);
      await box.kill();
      await running;
      await box.start();
    }
    while (queue.length > 0) await load({ port: box.port('smtp'), queue, ledger, clients: 4 });
    expect(ledger.refusals).toEqual([]);
    await box.restart();
    await expectKept(box, ledger, ledger.unanswered);
  }, 300_000);

  test('while PostgreSQL restarts the reply is "later", and the server recovers by itself', async () => {
    const ledger = new Ledger();
    const queue = numberedMany('away', 120, SEED + 2);
    for (const target of [40, 80]) {
      const running = load({ port: box.port('smtp'), queue, ledger, clients: 4 });
      await Promise.race([acknowledged(ledger, target), running]);
      server.restart();
      await running;
    }
    const sendRest = async (): Promise<boolean> => {
      await load({ port: box.port('smtp'), queue, ledger, clients: 4 });
      return queue.length === 0;
    };
    await expect.poll(sendRest, { timeout: 120_000, interval: 500 }).toBe(true);
    expect(ledger.refusals.filter((line) => !line.startsWith('4'))).toEqual([]);
    await expectKept(box, ledger, ledger.unanswered + ledger.refusals.length);
  }, 300_000);

  test('connections that are cut under load lose nothing, and the server connects again by itself', async () => {
    const ledger = new Ledger();
    const queue = numberedMany('cut', 120, SEED + 3);
    const random = seeded(SEED);
    let cuts = 0;
    // At the end of data, so that some commits are on their way.
    ledger.onDot = () => {
      if (ledger.dots % 4 !== 0) return;
      cuts++;
      proxy.cut(random);
    };
    const sendAll = async (): Promise<boolean> => {
      await load({ port: box.port('smtp'), queue, ledger, clients: 4 });
      return queue.length === 0;
    };
    await expect.poll(sendAll, { timeout: 120_000, interval: 500 }).toBe(true);
    expect(cuts).toBeGreaterThan(20);
    expect(ledger.refusals.filter((line) => !line.startsWith('4'))).toEqual([]);
    await expectKept(box, ledger, ledger.unanswered + ledger.refusals.length);
  }, 300_000);

  test('the password of the database is printed nowhere', () => {
    expect(box.printed.length).toBeGreaterThan(5);
    expect(box.printed.filter((line) => line.includes(PASSWORD))).toEqual([]);
  });
});
