import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { StoreBackend } from '../mail/imap/store-backend.ts';
import { deliverMail } from '../test/support/deliver-mail.ts';
import { imapWorld, PASSWORD, USER } from '../test/support/imap-world.ts';
import { testAccount, testStore } from '../test/support/store.ts';

/**
 * Times SELECT with QRESYNC of a mailbox of 100,000 messages of which 1 % changed and 0.5 % were expunged, at the client,
 * and SELECT without it: `node bench/qresync.ts`.
 */
const MESSAGES = 100_000;
const RUNS = 15;

await using box = await testStore();
const { account, inbox } = await testAccount(box.store);
await deliverMail(box.store, { account, to: 'me@box.test' }, 'Subject: one\n\none\n');
fill(join(box.dataDir, 'mailstead.db'));
const store = await box.reopen();
await using world = await imapWorld({ exempt: true, open: () => new StoreBackend(store, account, () => Date.now()) });

const times = { 'SELECT (QRESYNC), 1,000 changed, 500 expunged': [] as number[], SELECT: [] as number[] };
for (let run = 0; run < RUNS; run += 1) {
  for (const [name, list] of Object.entries(times)) {
    const client = await world.connect();
    await client.command(`LOGIN ${USER} ${PASSWORD}`);
    await client.command('ENABLE QRESYNC');
    const parameter = name === 'SELECT' ? '' : ' (QRESYNC (1 1000 1:100000))';
    const uidValidity = (await client.command('STATUS INBOX (UIDVALIDITY)')).join().match(/UIDVALIDITY (\d+)/)?.[1];
    const command = `SELECT INBOX${parameter.replace('(1 ', `(${uidValidity} `)}`;
    const begin = performance.now();
    const lines = await client.command(command);
    list.push(performance.now() - begin);
    if (name !== 'SELECT' && lines.filter((line) => line.includes(' FETCH ')).length !== 1_000)
      throw new Error('not 1,000 changes');
    client.socket.destroy();
  }
}
for (const [name, list] of Object.entries(times)) {
  const [least, median, most] = [0, RUNS >> 1, RUNS - 1].map((at) => list.toSorted((a, b) => a - b)[at]?.toFixed(1));
  console.log(`${name}: median ${median} ms (${least} to ${most}) of ${RUNS}, each in a new session`);
}

/** Copies the one message into 100,000 entries; mod-sequences above 1,000 are changes. */
function fill(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`
    DELETE FROM entry WHERE mailbox_id = ${inbox};
    WITH RECURSIVE n (uid) AS (SELECT 1 UNION ALL SELECT uid + 1 FROM n WHERE uid < ${MESSAGES})
    INSERT INTO entry (mailbox_id, uid, email_id, flags, kw, modseq, received_at, thread_id, size, save_at)
    SELECT ${inbox}, uid, (SELECT max(id) FROM email), uid % 2, NULL, iif(uid % 100 = 7, 1000 + uid, 900),
      0, (SELECT max(thread_id) FROM email), 100, 0 FROM n WHERE uid % 200 <> 3;
    WITH RECURSIVE n (uid) AS (SELECT 3 UNION ALL SELECT uid + 200 FROM n WHERE uid + 200 <= ${MESSAGES})
    INSERT INTO expunged (mailbox_id, uid, email_id, flags, kw, received_at, modseq, at)
    SELECT ${inbox}, uid, (SELECT max(id) FROM email), 0, NULL, 0, 2000 + uid, 0 FROM n;
    UPDATE mailbox SET uidnext = ${MESSAGES + 1}, total = (SELECT count(*) FROM entry), highestmodseq = 200000,
      recent_from = ${MESSAGES + 1} WHERE id = ${inbox};
    UPDATE account SET modseq = 200000;
  `);
  database.close();
}
