import { flagList } from './wire/encoder.ts';
import type { MailboxView } from './needs.ts';

const SYSTEM = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft'];
const GONE: Flags = { names: ['\\Deleted'], text: '(\\Deleted)' };
const NONE: Flags = { names: [], text: '()' };

/** Flags of one message as they go on the wire. */
export interface Flags {
  readonly names: readonly string[];
  readonly text: string;
}

/** `* FLAGS (...)`: every flag that may be seen on a message here. RFC 9051 7.3.5. */
export function flagsLine(keywords: readonly string[]): string {
  return `* FLAGS ${flagList([...SYSTEM, ...keywords])}\r\n`;
}

/** What the client may change for good; `\*` says that new keywords may be made. RFC 9051 7.1. */
export function permanentFlags(keywords: readonly string[], readOnly: boolean): string {
  return `PERMANENTFLAGS ${readOnly ? '()' : flagList([...SYSTEM, ...keywords, '\\*'])}`;
}

/** Views give one array of names to all messages that have the same flags and no keywords beyond the bits. */
const known = new WeakMap<readonly string[], Flags>();

/** Flags of a message as it is now. One that is gone shows `\Deleted` until its EXPUNGE is told. */
export function flagsOf(view: MailboxView, uid: number): Flags {
  const names = view.flagNames(uid);
  if (names.length === 0) return view.indexOf(uid) >= 0 ? NONE : GONE;
  let flags = known.get(names);
  if (flags === undefined) known.set(names, (flags = { names, text: flagList(names) }));
  return flags;
}
