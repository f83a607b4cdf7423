import { StoreBackend } from '../../mail/imap/store-backend.ts';
import type { JmapFixture } from './jmap-fixture.ts';
import { finishAppend } from './finish-append.ts';

/** Creates an IMAP backend for the account. */
export function imapOf(fixture: JmapFixture): StoreBackend {
  return new StoreBackend(fixture.box.store, fixture.account, () => fixture.box.clock.now);
}

export interface TestMessage {
  mailbox?: string;
  /** Message-ID without the domain. */
  id?: string;
  /** Referenced Message-IDs. */
  refs?: readonly string[];
  subject?: string;
  bits?: number;
  receivedAt?: number;
}

let put = 0;

/** Appends one message; returns its UID. */
export async function putMessage(fixture: JmapFixture, what: TestMessage = {}): Promise<number> {
  const { mailbox = 'INBOX', id = `put${++put}`, refs = [], subject = 'Hello', bits = 0 } = what;
  const references = refs.length === 0 ? '' : `References: ${refs.map((ref) => `<${ref}@box.test>`).join(' ')}\r\n`;
  const text = `From: a@remote.example\r\nMessage-ID: <${id}@box.test>\r\n${references}Subject: ${subject}\r\n\r\nHello\r\n`;
  const sink = imapOf(fixture).append(text.length);
  if ('kind' in sink) throw new Error(sink.kind);
  await sink.write(Buffer.from(text));
  const { receivedAt } = what;
  const done = await finishAppend(imapOf(fixture), sink, { mailbox, flags: { bits, keywords: [] }, receivedAt });
  if (done.kind !== 'appended') throw new Error(done.kind);
  return done.uid;
}

/** Finds the row of a mailbox by name. */
export async function mailboxRow(fixture: JmapFixture, name: string): Promise<number> {
  const found = await imapOf(fixture).mailbox(name);
  if (found === undefined) throw new Error(`no mailbox ${name}`);
  return found.id;
}
