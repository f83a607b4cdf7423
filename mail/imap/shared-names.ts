import type { SharedMailbox } from '../store/mailbox/acl.ts';
import type { ImapMailboxInfo } from './imap-store.ts';
import { levelsAbove } from './levels-above.ts';

/** Prefix of the mailboxes of others: `Other Users/ann@example.org/INBOX`. RFC 2342. */
export const OTHER_USERS = 'Other Users/';

/** A name below {@link OTHER_USERS}, taken apart. */
export interface SharedName {
  /** Address of the owner. */
  address: string;
  /** Name in the account of the owner. */
  name: string;
}

/** Tests if a name is in the namespace of others. */
export function isSharedName(name: string): boolean {
  return name === OTHER_USERS.slice(0, -1) || name.startsWith(OTHER_USERS);
}

/** Takes a name apart; undefined for a name of the own account, and for `Other Users` and the owners themselves. */
export function sharedName(full: string): SharedName | undefined {
  if (!full.startsWith(OTHER_USERS)) return undefined;
  const slash = full.indexOf('/', OTHER_USERS.length);
  if (slash === -1) return undefined;
  const name = full.slice(slash + 1);
  return {
    address: full.slice(OTHER_USERS.length, slash),
    name: /^inbox(?=\/|$)/i.test(name) ? `INBOX${name.slice(5)}` : name,
  };
}

/** A mailbox of another account, as the session shows it. Special uses are those of the owner, not of the reader. */
export function sharedInfo(
  { address, info, rights, subscribed }: SharedMailbox,
  hasChildren: boolean,
): ImapMailboxInfo {
  return { ...info, name: `${OTHER_USERS}${address}/${info.name}`, role: null, subscribed, rights, hasChildren };
}

/** Mailboxes that may be listed, with the levels above them that cannot be selected. */
export function withParents(shared: readonly SharedMailbox[]): ImapMailboxInfo[] {
  const listed = shared.filter(({ rights }) => rights.includes('l'));
  const names = new Set(listed.map((each) => sharedInfo(each, false).name));
  const parents = new Set([...names].flatMap(levelsAbove));
  const missing = [...parents].filter((name) => !names.has(name));
  return [
    ...listed.map((each) => {
      const info = sharedInfo(each, false);
      return { ...info, hasChildren: parents.has(info.name) };
    }),
    ...missing.map(nonexistent),
  ];
}

/** A level that is no mailbox and has mailboxes below it. */
function nonexistent(name: string): ImapMailboxInfo {
  const counters = { uidValidity: 0, uidNext: 0, total: 0, unseen: 0, deleted: 0, bytes: 0, highestModseq: 0 };
  return { id: 0, name, role: null, subscribed: false, hasChildren: true, isNonexistent: true, ...counters };
}
