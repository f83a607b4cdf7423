import { ImapFlow } from 'imapflow';
import type { Box } from '../support/box.ts';

/** imapflow, logged in over TLS; by default to local mode's mailbox. */
export async function flow(box: Box, user = box.address, pass = box.password): Promise<ImapFlow & AsyncDisposable> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imaps'),
    secure: true,
    tls: { rejectUnauthorized: false },
    auth: { user, pass },
    logger: false,
  });
  await client.connect();
  return Object.assign(client, {
    async [Symbol.asyncDispose]() {
      if (client.usable) await client.logout();
    },
  });
}

/** Every message of a mailbox, whole, in its order. */
export async function sources(client: ImapFlow, mailbox = 'INBOX'): Promise<Buffer[]> {
  const lock = await client.getMailboxLock(mailbox);
  try {
    if (client.mailbox === false || client.mailbox.exists === 0) return [];
    const messages: Buffer[] = [];
    for await (const { source } of client.fetch('1:*', { source: true })) messages.push(source ?? Buffer.alloc(0));
    return messages;
  } finally {
    lock.release();
  }
}
