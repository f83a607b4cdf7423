import { MessageWriter } from '../../mail/store/blob/message-writer.ts';
import { appendMessage } from '../../mail/store/mailbox/entry-commands.ts';
import { createMailbox, listMailboxes } from '../../mail/store/mailbox/mailbox.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { oddMail, type OddMessage } from './odd-mail.ts';

/** Folders whose names an archive, an encoding or a file system may take for something else. */
export const ODD_FOLDERS: readonly string[] = [
  'INBOX',
  'Sent',
  'Work',
  'Work/Ünïcode & more',
  'Work/a.b',
  '日本語/深い',
  'cur',
  'x%41',
  'Trailing.',
  'Old.mbox',
  'INBOX/below inbox',
  'Work/a_b',
  'WORK/A.B',
  '~tilde "quoted" \\',
  `Long/${'長'.repeat(80)}`,
  `Long/${'長'.repeat(80)}い`,
];

/** Fills an account with odd messages in odd folders, one after the other; answers them by folder, in the order of UIDs. */
export async function fillWithOddMail(
  store: MailStore,
  account: number,
  count: number,
): Promise<Map<string, OddMessage[]>> {
  for (const name of ODD_FOLDERS) await store.write(createMailbox, { account, name, role: null });
  const folders = await store.read(listMailboxes, { account });
  const filled = new Map(ODD_FOLDERS.map((name) => [name, [] as OddMessage[]]));
  for (const [number, one] of oddMail(count).entries()) {
    const name = ODD_FOLDERS[number % ODD_FOLDERS.length] ?? '';
    await append(store, { account, mailbox: folders.find((each) => each.name === name)?.id ?? 0 }, one);
    filled.get(name)?.push(one);
  }
  return filled;
}

async function append(
  store: MailStore,
  place: { account: number; mailbox: number },
  { octets, flags, receivedAt }: OddMessage,
): Promise<void> {
  const writer = new MessageWriter(store);
  await writer.write(octets);
  const done = await writer.finish(
    (written) => store.write(appendMessage, { ...place, flags, receivedAt, ...written }),
    (outcome) => outcome.kind === 'appended',
  );
  if (done.kind !== 'appended') throw new Error(`the message was not appended: ${done.kind}`);
}
