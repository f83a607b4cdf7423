import { jmapId } from '../../mail/jmap/core/ids.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { messageRows } from '../../mail/store/blob/content.ts';
import { appendMessage } from '../../mail/store/mailbox/entry-commands.ts';
import type { NamedFlags } from '../../mail/store/mailbox/flags.ts';
import type { JmapFixture } from './jmap-fixture.ts';

/** Converts LF to CRLF and encodes as latin1. */
export function octetsOf(message: Buffer | string): Buffer {
  return typeof message === 'string' ? Buffer.from(message.replace(/\r?\n/g, '\r\n'), 'latin1') : message;
}

/** Stores a message in a mailbox, by default the inbox; returns its JMAP id. */
export async function storeTestMessage(
  fixture: JmapFixture,
  message: Buffer | string,
  flags: NamedFlags = { bits: 0, keywords: [] },
  mailbox = fixture.inbox,
): Promise<string> {
  const { store } = fixture.box;
  const octets = octetsOf(message);
  const writer = store.files.create();
  await writer.write(octets);
  const blob = await writer.finish();
  const result = await store.write(appendMessage, {
    account: fixture.account,
    mailbox,
    flags,
    receivedAt: fixture.box.clock.now,
    file: 'file' in blob ? blob : null,
    data: 'data' in blob ? blob.data : null,
    index: indexMessage(octets),
  });
  if (result.kind !== 'appended') throw new Error(result.kind);
  const input = { account: fixture.account, mailbox, uids: [result.uid], structure: false };
  const [row] = await store.read(messageRows, input);
  return jmapId('email', row?.emailId ?? 0);
}

export type EmailResponse = Record<string, unknown> & { id: string };

/** Fetches one email by Email/get. */
export async function getOne(
  fixture: JmapFixture,
  id: string,
  args: Record<string, unknown> = {},
): Promise<EmailResponse> {
  const { list } = await fixture.call('Email/get', { ids: [id], ...args });
  const [one] = list as EmailResponse[];
  if (one === undefined) throw new Error(`${id} was not found`);
  return one;
}
