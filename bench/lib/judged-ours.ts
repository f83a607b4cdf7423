import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { callServer } from '../../src/operator-socket/client.ts';
import { message } from './messages.ts';
import { startMailstead, type Subject } from './mailstead.ts';

/** Messages of each kind. */
const TAUGHT = 10;
const PASSWORD = 'bench-password-1';

/** Mailstead in live mode on loopback, with all of its checks, or with none. */
export async function startFiltered(mailboxes: number, dns: string, checks: 'on' | 'off'): Promise<Subject> {
  const dataDir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'mailstead-bench-'));
  const settings = {
    MAILSTEAD_HOSTNAME: 'mail.box.test',
    MAILSTEAD_LISTEN: '127.0.0.1',
    MAILSTEAD_RESOLVERS: dns,
    MAILSTEAD_SPAM_CHECKS: checks,
  };
  const box = await startMailstead(0, settings, undefined, dataDir);
  const ask = async (operation: string, input: object): Promise<void> => {
    const answer = await callServer(dataDir, operation, input);
    if (answer.kind !== 'done') throw new Error(`${operation}: ${answer.message}`);
  };
  await ask('add_domain', { domain: 'box.test' });
  const users = Array.from({ length: mailboxes }, (_, n) => `user${n + 1}`);
  for (const user of users) await ask('add_mailbox', { address: `${user}@box.test`, password: PASSWORD });
  if (checks === 'on') for (const user of users) await teach(box.ports['imaps'] ?? 0, `${user}@box.test`);
  return {
    ...box,
    name: checks === 'on' ? 'mailstead' : 'mailstead without checks',
    users,
    imapsPort: box.ports['imaps'] ?? 0,
    mailboxes: ['INBOX', 'Junk'],
    async stop() {
      await box.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Each mailbox says of some mail that it is junk, and of some that it is not, so that words are compared. */
async function teach(port: number, user: string): Promise<void> {
  const auth = { user, pass: PASSWORD };
  const tls = { rejectUnauthorized: false };
  const client = new ImapFlow({ host: '127.0.0.1', port, secure: true, auth, tls, logger: false });
  await client.connect();
  for (let n = 0; n < 2 * TAUGHT; n++)
    await client.append('INBOX', message(n, 2_000, n % 2 === 0 ? 'good' : 'junk'), ['\\Seen']);
  await client.mailboxOpen('INBOX');
  const all = Array.from({ length: 2 * TAUGHT }, (_, n) => n + 1);
  await client.messageMove(
    all.filter((uid) => uid % 2 === 0),
    'Junk',
    { uid: true },
  );
  await client.messageMove(
    all.filter((uid) => uid % 2 === 1),
    'Archive',
    { uid: true },
  );
  await client.logout();
}
