import type { ListRequest } from './list-options.ts';
import type { ImapMailboxInfo } from './imap-store.ts';
import { levelsAbove } from './levels-above.ts';
import { specialUse } from './special-use.ts';
import { patternMatcher } from './wire/mailbox-name.ts';

export interface ListedMailbox {
  mailbox: ImapMailboxInfo;
  /** It matches the selection options itself; otherwise it is listed for a child. */
  isSelected: boolean;
  /** A child matches (CHILDINFO). Only with RECURSIVEMATCH. */
  childInfo: boolean;
}

/**
 * Selects the mailboxes of a LIST, INBOX first, then by name. Long patterns take time, so it awaits `giveWay` before each mailbox,
 * which rejects when the client is gone.
 */
export async function* selectMailboxes(
  all: readonly ImapMailboxInfo[],
  request: ListRequest,
  giveWay: () => Promise<void>,
): AsyncGenerator<ListedMailbox> {
  const matchers = request.patterns.map(patternMatcher);
  const parents = request.select.includes('RECURSIVEMATCH')
    ? levelsAboveAll(all.filter((each) => fits(each, request)))
    : NONE;
  for (const mailbox of all.toSorted(byName)) {
    await giveWay();
    const isSelected = fits(mailbox, request);
    const childInfo = parents.has(mailbox.name);
    if ((isSelected || childInfo) && matchers.some((matches) => matches(mailbox.name))) {
      yield { mailbox, isSelected, childInfo };
    }
  }
}

const NONE: ReadonlySet<string> = new Set();

function fits(mailbox: ImapMailboxInfo, { select }: ListRequest): boolean {
  if (select.includes('SUBSCRIBED') && !mailbox.subscribed) return false;
  return !select.includes('SPECIAL-USE') || specialUse(mailbox.role) !== undefined;
}

/** Names of all levels above the mailboxes. */
export function levelsAboveAll(mailboxes: readonly ImapMailboxInfo[]): ReadonlySet<string> {
  const parents = new Set<string>();
  for (const { name } of mailboxes) for (const level of levelsAbove(name)) parents.add(level);
  return parents;
}

function byName(a: ImapMailboxInfo, b: ImapMailboxInfo): number {
  if (a.name === 'INBOX' || b.name === 'INBOX') return a.name === 'INBOX' ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
