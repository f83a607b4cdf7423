import type { ImapMailboxInfo } from '../imap-store.ts';
import type { Decoder } from '../wire/decoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';

/** Names in one IN option. */
const MAX_NAMES = 200;

const WITHOUT_NAMES = ['SELECTED', 'INBOXES', 'PERSONAL', 'SUBSCRIBED'] as const;
const WITH_NAMES = ['SUBTREE', 'SUBTREE-ONE', 'MAILBOXES'] as const;

/** Mailboxes that a search in several ones reads. RFC 7377 2.2, RFC 5465 6. */
export interface MailboxSource {
  readonly kind: (typeof WITHOUT_NAMES)[number] | (typeof WITH_NAMES)[number];
  /** For SUBTREE, SUBTREE-ONE and MAILBOXES. */
  readonly names: readonly string[];
}

/** Reads `(source source ...)`, such as `(inboxes subtree ("a" "b"))`. */
export function parseSources(d: Decoder): MailboxSource[] {
  const sources = d.list((one) => parseSource(one, one.word()));
  if (sources.length === 0) throw new ImapSyntaxError('Missing mailbox source');
  return sources;
}

/** Reads the names of a source whose first word was read. */
export function parseSource(d: Decoder, word: string): MailboxSource {
  const bare = WITHOUT_NAMES.find((name) => name === word);
  if (bare !== undefined) return { kind: bare, names: [] };
  const kind = WITH_NAMES.find((name) => name === word);
  if (kind === undefined) throw new ImapSyntaxError('Unknown mailbox source');
  d.sp();
  const names = d.ahead('(') ? d.list((one) => one.mailbox()) : [d.mailbox()];
  if (names.length === 0 || names.length > MAX_NAMES)
    throw new ImapSyntaxError(`Expected 1 to ${MAX_NAMES} mailbox names`);
  return { kind, names };
}

/** The mailboxes of the sources, each once, in the order of `all`. `selected`: number of the selected mailbox. */
export function sourceMailboxes(
  all: readonly ImapMailboxInfo[],
  sources: readonly MailboxSource[],
  selected: number | undefined,
): ImapMailboxInfo[] {
  const tests = sources.map((source) => sourceTest(source, selected));
  return all.filter((mailbox) => tests.some((test) => test(mailbox)));
}

/** The facts of a mailbox that sources name it by. */
export type SourceMailbox = Pick<ImapMailboxInfo, 'id' | 'name' | 'role' | 'subscribed' | 'rights'>;

/** Returns the test if a mailbox is in a source. */
export function sourceTest(
  { kind, names }: MailboxSource,
  selected: number | undefined,
): (mailbox: SourceMailbox) => boolean {
  const named = new Set(names);
  switch (kind) {
    case 'SELECTED':
      return ({ id }) => id === selected;
    case 'INBOXES':
      return ({ role }) => role === 'inbox';
    case 'PERSONAL':
      // The mailboxes of others are in another namespace.
      return ({ rights }) => rights === undefined;
    case 'SUBSCRIBED':
      return ({ subscribed }) => subscribed;
    case 'MAILBOXES':
      return ({ name }) => named.has(name);
    case 'SUBTREE':
      return ({ name }) => named.has(name) || parentsOf(name).some((parent) => named.has(parent));
    case 'SUBTREE-ONE':
      return ({ name }) => named.has(name) || named.has(parentsOf(name).at(-1) ?? '');
  }
}

/** `a` and `a/b` for `a/b/c`. */
function parentsOf(name: string): string[] {
  const levels = name.split('/');
  return levels.slice(1).map((_, depth) => levels.slice(0, depth + 1).join('/'));
}
