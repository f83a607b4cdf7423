import { flagList } from './wire/encoder.ts';
import type { MailboxView } from './imap-store.ts';

const SYSTEM = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft'];
const EXPUNGED: Flags = { names: ['\\Deleted'], text: '(\\Deleted)' };
const NONE: Flags = { names: [], text: '()' };

/** Flags of one message as they go on the wire. */
export interface Flags {
  readonly names: readonly string[];
  readonly text: string;
}

/** `* FLAGS (...)`: every flag defined in the mailbox. RFC 9051 7.3.5. */
export function flagsLine(keywords: readonly string[]): string {
  return `* FLAGS ${flagList([...SYSTEM, ...keywords])}\r\n`;
}

/** Flags that the client can change permanently; `\*` means that new keywords can be created. RFC 9051 7.1. */
export function permanentFlags(keywords: readonly string[], readOnly: boolean): string {
  return `PERMANENTFLAGS ${readOnly ? '()' : flagList([...SYSTEM, ...keywords, '\\*'])}`;
}

/** Rendered flags by array: a view shares one array among messages with the same flags. */
const rendered = new WeakMap<readonly string[], Flags>();

/** Current flags of a message. An expunged one shows `\Deleted` until its EXPUNGE response was sent. */
export function flagsOf(view: MailboxView, uid: number): Flags {
  const names = view.flagNames(uid);
  if (names.length === 0) return view.indexOf(uid) >= 0 ? NONE : EXPUNGED;
  let flags = rendered.get(names);
  if (flags === undefined) rendered.set(names, (flags = { names, text: flagList(names) }));
  return flags;
}
