import { jmapId } from '../../mail/jmap/ids.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { messageRows } from '../../mail/store/content.ts';
import { appendMessage } from '../../mail/store/entry-commands.ts';
import type { FlagSet } from '../../mail/store/flags.ts';
import type { JmapWorld } from './jmap-world.ts';

/** Text with LF becomes a message with CRLF; each of its characters is one octet. */
export function octetsOf(message: Buffer | string): Buffer {
  return typeof message === 'string' ? Buffer.from(message.replace(/\r?\n/g, '\r\n'), 'latin1') : message;
}

/** Puts a message into a mailbox of the world's account, its inbox if none is named; answers its JMAP id. */
export async function keep(
  world: JmapWorld,
  message: Buffer | string,
  flags: FlagSet = { bits: 0, keywords: [] },
  mailbox = world.inbox,
): Promise<string> {
  const { store } = world.box;
  const octets = octetsOf(message);
  const writer = store.files.create();
  await writer.write(octets);
  const blob = await writer.finish();
  const result = await store.write(appendMessage, {
    account: world.account,
    mailbox,
    flags,
    receivedAt: world.box.clock.now,
    file: 'file' in blob ? blob : null,
    data: 'data' in blob ? blob.data : null,
    index: indexMessage(octets),
  });
  if (result.kind !== 'appended') throw new Error(result.kind);
  const input = { account: world.account, mailbox, uids: [result.uid], structure: false };
  const [row] = await store.read(messageRows, input);
  return jmapId('email', row?.emailId ?? 0);
}

export type Answered = Record<string, unknown> & { id: string };

/** What Email/get answers about one message. */
export async function getOne(world: JmapWorld, id: string, args: Record<string, unknown> = {}): Promise<Answered> {
  const { list } = await world.call('Email/get', { ids: [id], ...args });
  const [one] = list as Answered[];
  if (one === undefined) throw new Error(`${id} was not found`);
  return one;
}
