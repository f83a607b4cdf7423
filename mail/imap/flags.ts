import { flagList } from './wire/encoder.ts';
import type { MailboxView } from './imap-store.ts';

const SYSTEM = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft'];
/** The right that a flag needs; the others need w. */
const RIGHT_FOR: ReadonlyMap<string, string> = new Map([
  ['\\Seen', 's'],
  ['\\Deleted', 't'],
]);
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

/**
 * Flags that the client can change permanently; `\*` means that new keywords can be created. RFC 9051 7.1. The rights on
 * the mailbox limit them: s is for \Seen, t for \Deleted, w for all others. RFC 4314 4, 5.1.1.
 */
export function permanentFlags(keywords: readonly string[], rights: string): string {
  const all = [...SYSTEM, ...keywords, '\\*'];
  const allowed = all.filter((name) => rights.includes(RIGHT_FOR.get(name) ?? 'w'));
  return `PERMANENTFLAGS ${flagList(allowed)}`;
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
