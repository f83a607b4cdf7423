import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { expectKept } from '../support/faults.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { tool } from '../support/mcp.ts';
import { connectPostgres, isPostgresInstalled, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { onPostgres } from '../support/test-database.ts';

const COMMAND = `${import.meta.dirname}/../../bin/mailstead`;
const SEED = 20_261_125;

describe.skipIf(!isPostgresInstalled || onPostgres)(
  'a server that moves to PostgreSQL (postgresql-15 of Debian) and back',
  () => {
    let server: PostgresServer;
    let box: Box;
    const ledger = new Ledger();
    /** Settings of the next start. */
    const settings: Record<string, string> = { EXEMPT_NETWORKS: '127.0.0.0/8' };

    beforeAll(async () => {
      server = startPostgres();
      box = await startBox({ settings });
    }, 300_000);

    afterAll(async () => {
      await box[Symbol.asyncDispose]();
      server[Symbol.dispose]();
    });

    /** UIDs, mod-sequences and flags, the queue and the audit log, as clients see them. */
    async function seen(): Promise<object> {
      using reader = await MailboxReader.open(box.port('imap'));
      const status = await reader.command('STATUS INBOX (MESSAGES UIDNEXT UIDVALIDITY HIGHESTMODSEQ)');
      await reader.command('EXAMINE INBOX');
      const entries = await reader.command('UID FETCH 1:* (UID FLAGS MODSEQ EMAILID THREADID RFC822.SIZE)');
      const fetched = entries
        .toString()
        .split('\r\n')
        .filter((line) => line.startsWith('* '));
      return {
        status: /STATUS .*/.exec(status.toString())?.[0],
        fetched,
        queue: await box.ask('list_box_queue'),
        audit: await box.ask('list_audit_events', { verify: true }),
      };
    }

    async function receive(name: string): Promise<void> {
      const queue = numberedMany(name, 41, SEED);
      await load({ port: box.port('smtp'), queue, ledger, clients: 2 });
      expect(ledger.refusals).toEqual([]);
      expect(queue).toEqual([]);
      await expectKept(box, ledger, 0);
    }

    async function move(to: string): Promise<string> {
      await box.stop();
      const { DATABASE: database } = settings;
      const env = { ...box.env, ...(database !== undefined && { MAILSTEAD_DATABASE: database }) };
      const { stdout } = await promisify(execFile)(COMMAND, ['move', '--to', to], { env });
      if (database === undefined) settings['DATABASE'] = to;
      else delete settings['DATABASE'];
      await box.start();
      return stdout;
    }

    /** A start without the setting, or with one that names an empty database, is refused and creates nothing. */
    async function expectNotForgotten(): Promise<void> {
      await box.stop();
      const { DATABASE: database = '' } = settings;
      delete settings['DATABASE'];
      await expect(box.start()).rejects.toThrow('MAILSTEAD_DATABASE is not set');
      expect(existsSync(join(box.dataDir, 'mailstead.db'))).toBe(false);
      const sql = connectPostgres(server);
      await sql.unsafe(`CREATE DATABASE typo TEMPLATE template0`);
      await sql.end();
      settings['DATABASE'] = database.replace('/postgres?', '/typo?');
      await expect(box.start()).rejects.toThrow('The database of MAILSTEAD_DATABASE is empty');
      settings['DATABASE'] = database;
      await box.start();
    }

    test('shows clients the same mail, queue and audit log, and goes on with the next', async () => {
      await receive('before');
      const token = /\bmst_[0-9a-f]+/.exec(box.printed.join('\n'))?.[0] ?? '';
      const letter = { from: box.address, to: ['ann@remote.example'], subject: 'queued', text: 'Hello' };
      await tool(`http://127.0.0.1:${box.port('http')}`, 'send_email', letter, token);
      const before = await seen();
      expect(await move(server.url)).toContain('all are equal');
      expect(await seen()).toEqual(before);
      await expectNotForgotten();
      await receive('there');
      const there = await seen();
      expect(await move('sqlite')).toContain('all are equal');
      expect(await seen()).toEqual(there);
      await receive('back');
    }, 300_000);
  },
);
