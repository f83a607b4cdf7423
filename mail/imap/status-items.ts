import type { MailboxInfo } from './needs.ts';
import type { Decoder } from './wire/decoder.ts';
import { mailbox } from './wire/encoder.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

const VALUES = {
  MESSAGES: (of: MailboxInfo) => of.total,
  // RFC 3501 2.3.2: nothing is ever \Recent here.
  RECENT: () => 0,
  UIDNEXT: (of: MailboxInfo) => of.uidNext,
  UIDVALIDITY: (of: MailboxInfo) => of.uidValidity,
  UNSEEN: (of: MailboxInfo) => of.unseen,
  DELETED: (of: MailboxInfo) => of.deleted,
  SIZE: (of: MailboxInfo) => of.bytes,
  APPENDLIMIT: (_: MailboxInfo, limit: number) => limit,
} as const;

export type StatusItem = keyof typeof VALUES;

/** `(MESSAGES UNSEEN)`. RFC 9051 9 `status-att`. */
export function parseStatusItems(d: Decoder): StatusItem[] {
  const items = d.list((each) => {
    const name = each.word();
    if (!Object.hasOwn(VALUES, name)) throw new ImapSyntaxError('Unknown status item');
    return name as StatusItem;
  });
  if (items.length === 0) throw new ImapSyntaxError('Expected a status item');
  return items;
}

/** `* STATUS INBOX (MESSAGES 3)` and CRLF. */
export function statusResponse(of: MailboxInfo, items: readonly StatusItem[], limit: number): string {
  const values = items.map((item) => `${item} ${VALUES[item](of, limit)}`);
  return `* STATUS ${mailbox(of.name)} (${values.join(' ')})\r\n`;
}
