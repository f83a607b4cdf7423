/** Writes a data directory of this version to test/schemas: run `node test/schemas/write.ts` after a migration was added. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { applianceMigrations } from '../../src/core/migrations.ts';
import { startBox } from '../support/box.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { Ledger, load, type Numbered } from '../support/load.ts';
import { readAccount } from '../support/mail-facts.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';

const MESSAGES = 24;
/** Commands after which folders, flags, keywords and gaps between UIDs are there. */
const COMMANDS = [
  'SELECT INBOX',
  'CREATE Work/Old',
  'CREATE "R&AOk-sum&AOk-"',
  String.raw`STORE 1:5 +FLAGS (\Seen)`,
  String.raw`STORE 2:3 +FLAGS (\Answered \Flagged)`,
  'STORE 4 +FLAGS (project-x)',
  'COPY 6:12 Work/Old',
  'MOVE 13:14 "R&AOk-sum&AOk-"',
  String.raw`STORE 7 +FLAGS (\Deleted)`,
  'EXPUNGE',
  'SUBSCRIBE Work/Old',
];

/** One message; one of them is so large that it is a file. */
function message(n: number): Numbered {
  const head = [
    `From: Load ${n % 5} <load${n % 5}@remote.example>`,
    'To: me@box.test',
    `Subject: number ${n}`,
    `Message-ID: <old-${n}@load.test>`,
    `Date: Sun, 22 Nov 2026 10:00:${10 + n} +0000`,
    'Content-Type: text/plain; charset=utf-8',
    ...(n % 3 === 2 ? [`References: <old-${n - 1}@load.test>`] : []),
  ];
  const line = (i: number): string => `Line ${i} of message ${n}, which is kept as it is. ÄÖ`;
  const body = Array.from({ length: n === 20 ? 1500 : 3 + n }, (_, i) => line(i));
  return { id: `old-${n}`, wire: Buffer.from([...head, '', ...body, '.', ''].join('\r\n')) };
}

/** Octets of the files that a start does not create again. */
function filesOf(dataDir: string): Record<string, string> {
  const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  const kept = names.filter(
    (name) => statSync(join(dataDir, name)).isFile() && !/text|^tls|lock|-shm$|\.sock/.test(name),
  );
  return Object.fromEntries(kept.map((name) => [name, readFileSync(join(dataDir, name), 'base64')]));
}

await using box = await startBox({ settings: UNDER_LOAD });
const queue = Array.from({ length: MESSAGES }, (_, n) => message(n));
while (queue.length > 0) await load({ port: box.port('smtp'), queue, ledger: new Ledger(), clients: 1 });
{
  using reader = await MailboxReader.open(box.port('imap'));
  for (const command of COMMANDS) {
    const answer = (await reader.command(command)).toString('latin1');
    if (!/^\d+ OK /m.test(answer)) throw new Error(`${command}: ${answer}`);
  }
}
const expected = await readAccount(box.port('imap'));
await box.stop();
const name = `mail-${mailMigrations().length}-appliance-${applianceMigrations().length}`;
const text = JSON.stringify({ files: filesOf(box.dataDir), expected });
const path = join(import.meta.dirname, `${name}.json.br`);
writeFileSync(path, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }));
console.log(path);
