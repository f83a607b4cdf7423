import type { ImapMailboxInfo, ImapStore } from './imap-store.ts';
import { jmapId } from '../store/object-id.ts';
import type { Session } from './session.ts';
import type { Decoder } from './wire/decoder.ts';
import { mailbox } from './wire/encoder.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

const VALUES = {
  MESSAGES: (of: ImapMailboxInfo) => of.total,
  RECENT: (of: ImapMailboxInfo) => of.recent ?? 0,
  UIDNEXT: (of: ImapMailboxInfo) => of.uidNext,
  UIDVALIDITY: (of: ImapMailboxInfo) => of.uidValidity,
  UNSEEN: (of: ImapMailboxInfo) => of.unseen,
  DELETED: (of: ImapMailboxInfo) => of.deleted,
  SIZE: (of: ImapMailboxInfo) => of.bytes,
  // RFC 8474 4.3.
  MAILBOXID: (of: ImapMailboxInfo) => `(${jmapId('mailbox', of.id)})`,
  // RFC 9208 4.1.4: octets, unlike STORAGE.
  'DELETED-STORAGE': (of: ImapMailboxInfo) => of.deletedBytes ?? 0,
  HIGHESTMODSEQ: (of: ImapMailboxInfo) => of.highestModseq,
  APPENDLIMIT: (_: ImapMailboxInfo, limit: number) => limit,
} as const;

export type StatusItem = keyof typeof VALUES;

/** `(MESSAGES UNSEEN)`. RFC 9051 9 `status-att`. */
export function parseStatusItems(d: Decoder): StatusItem[] {
  const items = d.list((each) => {
    const name = each.word();
    if (!Object.hasOwn(VALUES, name)) throw new ImapSyntaxError('Unknown STATUS item');
    return name as StatusItem;
  });
  if (items.length === 0) throw new ImapSyntaxError('Expected a STATUS item');
  // A name repeated 5,000 times would multiply the response, once for each mailbox of a LIST.
  return [...new Set(items)];
}

/** Adds the counts that are not stored, if they are requested. */
export async function withCounts(
  store: Pick<ImapStore, 'deletedBytes' | 'recent'>,
  of: ImapMailboxInfo,
  items: readonly StatusItem[],
): Promise<ImapMailboxInfo> {
  const counted = { ...of };
  if (of.deleted > 0 && items.includes('DELETED-STORAGE')) counted.deletedBytes = await store.deletedBytes(of.id);
  if (of.total > 0 && items.includes('RECENT')) counted.recent = await store.recent(of.id);
  return counted;
}

/** `* STATUS INBOX (MESSAGES 3)` and CRLF. */
export function statusResponse(of: ImapMailboxInfo, items: readonly StatusItem[], session: Session): string {
  const { messageBytes } = session.context.limits;
  const values = items.map((item) => `${item} ${VALUES[item](of, messageBytes)}`);
  return `* STATUS ${mailbox(of.name, session.utf8)} (${values.join(' ')})\r\n`;
}
