import type { ImapMailboxInfo } from '../imap-store.ts';
import { levelsAbove } from '../levels-above.ts';
import type { Decoder } from '../wire/decoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';

/** Names in one source. */
const MAX_NAMES = 200;
/** Sources in one search: each is compared with every mailbox. */
const MAX_SOURCES = 50;

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
  if (sources.length === 0 || sources.length > MAX_SOURCES)
    throw new ImapSyntaxError(`Expected 1 to ${MAX_SOURCES} mailbox sources`);
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
  const matcher = sourceMatcher(sources, selected);
  return all.filter((mailbox) => {
    const isIn = matcher(mailbox);
    return sources.some((_, at) => isIn(at));
  });
}

/** The facts of a mailbox that sources name it by. */
export type SourceMailbox = Pick<ImapMailboxInfo, 'id' | 'name' | 'role' | 'subscribed' | 'rights'>;

/**
 * Returns the test if a mailbox is in the source at a position. The levels above a mailbox are computed once for all
 * sources: 50 sources of 2,000 mailboxes with 50 levels would cost seconds otherwise.
 */
export function sourceMatcher(
  sources: readonly MailboxSource[],
  selected: number | undefined,
): (mailbox: SourceMailbox) => (at: number) => boolean {
  const tests = sources.map((source) => sourceTest(source, selected));
  return (mailbox) => {
    let levels: readonly string[] | undefined;
    const parents = (): readonly string[] => (levels ??= levelsAbove(mailbox.name));
    return (at) => tests[at]?.(mailbox, parents) === true;
  };
}

type SourceTest = (mailbox: SourceMailbox, parents: () => readonly string[]) => boolean;

function sourceTest({ kind, names }: MailboxSource, selected: number | undefined): SourceTest {
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
      return ({ name }, parents) => named.has(name) || parents().some((parent) => named.has(parent));
    case 'SUBTREE-ONE':
      return ({ name }, parents) => named.has(name) || named.has(parents().at(-1) ?? '');
  }
}
