import { StoreBackend } from '../../mail/imap/store-backend.ts';
import type { JmapWorld } from './jmap-world.ts';

/** Puts messages into an account as IMAP does. */
export function imapOf(world: JmapWorld): StoreBackend {
  return new StoreBackend(world.box.store, world.account, () => world.box.clock.now);
}

export interface Put {
  mailbox?: string;
  /** Its own Message-ID, without the domain. */
  id?: string;
  /** Message-IDs that it refers to. */
  refs?: readonly string[];
  subject?: string;
  bits?: number;
  receivedAt?: number;
}

let put = 0;

/** Appends one message and answers its UID. */
export async function putMessage(world: JmapWorld, what: Put = {}): Promise<number> {
  const { mailbox = 'INBOX', id = `put${++put}`, refs = [], subject = 'Hello', bits = 0 } = what;
  const references = refs.length === 0 ? '' : `References: ${refs.map((ref) => `<${ref}@box.test>`).join(' ')}\r\n`;
  const text = `From: a@remote.example\r\nMessage-ID: <${id}@box.test>\r\n${references}Subject: ${subject}\r\n\r\nHello\r\n`;
  const sink = imapOf(world).append(text.length);
  if ('kind' in sink) throw new Error(sink.kind);
  await sink.write(Buffer.from(text));
  const { receivedAt } = what;
  const done = await sink.finish({ mailbox, flags: { bits, keywords: [] }, receivedAt });
  if (done.kind !== 'appended') throw new Error(done.kind);
  return done.uid;
}

/** The row of a mailbox by its name. */
export async function mailboxRow(world: JmapWorld, name: string): Promise<number> {
  const found = await imapOf(world).mailbox(name);
  if (found === undefined) throw new Error(`no mailbox ${name}`);
  return found.id;
}
