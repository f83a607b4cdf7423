import type { ImapMailboxInfo } from './imap-store.ts';
import type { Decoder } from './wire/decoder.ts';
import { mailbox } from './wire/encoder.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

const VALUES = {
  MESSAGES: (of: ImapMailboxInfo) => of.total,
  // RFC 3501 2.3.2: \Recent is not supported.
  RECENT: () => 0,
  UIDNEXT: (of: ImapMailboxInfo) => of.uidNext,
  UIDVALIDITY: (of: ImapMailboxInfo) => of.uidValidity,
  UNSEEN: (of: ImapMailboxInfo) => of.unseen,
  DELETED: (of: ImapMailboxInfo) => of.deleted,
  SIZE: (of: ImapMailboxInfo) => of.bytes,
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

/** `* STATUS INBOX (MESSAGES 3)` and CRLF. */
export function statusResponse(of: ImapMailboxInfo, items: readonly StatusItem[], limit: number): string {
  const values = items.map((item) => `${item} ${VALUES[item](of, limit)}`);
  return `* STATUS ${mailbox(of.name)} (${values.join(' ')})\r\n`;
}
