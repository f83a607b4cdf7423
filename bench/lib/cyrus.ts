import { ImapFlow } from 'imapflow';
import { type Cyrus, startCyrus } from '../../test/support/cyrus.ts';
import { message } from './messages.ts';

/** Debian's Cyrus with IMAP and JMAP, as many users, each with some messages. Needs root and apt-get. */
export async function startJmapPeer(users: number, messages: number): Promise<Cyrus> {
  await using stack = new AsyncDisposableStack();
  const cyrus = stack.use(await startCyrus({ users, jmap: true, below: process.env['BENCH_DIR'] }));
  for (const name of cyrus.users) await seed(cyrus, name, messages);
  stack.move();
  return cyrus;
}

/** Logs in, which creates the mailbox, and fills it; the folders that mail programs create are there too. */
async function seed({ imapPort, password }: Cyrus, user: string, messages: number): Promise<void> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: imapPort,
    secure: false,
    auth: { user, pass: password },
    logger: false,
  });
  await client.connect();
  for (const name of ['Drafts', 'Sent', 'Junk', 'Trash', 'Archive']) await client.mailboxCreate(name);
  for (let n = 0; n < messages; n++) await client.append('INBOX', message(n, 1_500, user));
  await client.logout();
}
