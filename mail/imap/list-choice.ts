import type { ListRequest } from './list-options.ts';
import type { MailboxInfo } from './needs.ts';
import { specialUse } from './special-use.ts';
import { breathe } from './pace.ts';
import { patternMatcher } from './wire/mailbox-name.ts';

export interface Listed {
  mailbox: MailboxInfo;
  /** It fits the selection options itself; else it is shown for what lies below it. */
  chosen: boolean;
  /** Something below it fits. Only with RECURSIVEMATCH. */
  childInfo: boolean;
}

/** The mailboxes that a LIST names, INBOX first, then by name. Patterns may take long: others have their turns meanwhile. */
export async function chooseMailboxes(all: readonly MailboxInfo[], request: ListRequest): Promise<Listed[]> {
  const matchers = request.patterns.map(patternMatcher);
  const parents = request.select.includes('RECURSIVEMATCH')
    ? parentsOf(all.filter((each) => fits(each, request)))
    : NONE;
  const listed: Listed[] = [];
  for (const mailbox of all) {
    await breathe();
    const chosen = fits(mailbox, request);
    const childInfo = parents.has(mailbox.name);
    if ((chosen || childInfo) && matchers.some((matches) => matches(mailbox.name))) {
      listed.push({ mailbox, chosen, childInfo });
    }
  }
  return listed.sort((a, b) => byName(a.mailbox, b.mailbox));
}

const NONE: ReadonlySet<string> = new Set();

function fits(mailbox: MailboxInfo, { select }: ListRequest): boolean {
  if (select.includes('SUBSCRIBED') && !mailbox.subscribed) return false;
  return !select.includes('SPECIAL-USE') || specialUse(mailbox.role) !== undefined;
}

function parentsOf(mailboxes: readonly MailboxInfo[]): Set<string> {
  const parents = new Set<string>();
  for (const { name } of mailboxes) {
    for (let slash = name.indexOf('/'); slash > 0; slash = name.indexOf('/', slash + 1))
      parents.add(name.slice(0, slash));
  }
  return parents;
}

function byName(a: MailboxInfo, b: MailboxInfo): number {
  if (a.name === 'INBOX' || b.name === 'INBOX') return a.name === 'INBOX' ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
