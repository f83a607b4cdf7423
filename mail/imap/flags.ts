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

/** Flags by their bits, shared by all sessions of a mailbox: a slot never changes its name. */
const known = new WeakMap<MailboxView, Map<number, Flags>>();

/** Flags of a message as it is now. One that is gone shows `\Deleted` until its EXPUNGE is told. */
export function flagsOf(view: MailboxView, uid: number): Flags {
  const bits = view.bits(uid);
  if (bits === 0) return view.indexOf(uid) >= 0 ? NONE : GONE;
  let combinations = known.get(view);
  if (combinations === undefined || combinations.size > 1000) known.set(view, (combinations = new Map()));
  let flags = combinations.get(bits);
  if (flags === undefined) {
    const names = view.flagNames(uid);
    combinations.set(bits, (flags = { names, text: flagList(names) }));
  }
  return flags;
}
