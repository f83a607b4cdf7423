import type { ImapMailboxInfo } from './imap-store.ts';

/** Rights of the owner. RFC 4314 2.1, and n of RFC 5257 for /shared/ entries of METADATA. */
export const OWNER_RIGHTS = 'lrswipkxtena';

/** The letters as RFC 4314 2.1.1 shows them to old clients: c for k or x, d for t or e. */
export function shownRights(rights: string): string {
  if (rights === '') return '""';
  const old = `${/[kx]/.test(rights) ? 'c' : ''}${/[te]/.test(rights) ? 'd' : ''}`;
  return rights + old;
}

/** The rights of a session on a mailbox. */
export function allRights(of: Pick<ImapMailboxInfo, 'rights'>): string {
  return shownRights(of.rights ?? OWNER_RIGHTS);
}

/** Tests if a session may use a mailbox so. */
export function hasRight(of: Pick<ImapMailboxInfo, 'rights'>, letter: string): boolean {
  return of.rights === undefined || of.rights.includes(letter);
}

/** Rights as a client names them, each once; undefined when one is unknown. c and d of RFC 2086 are taken apart. */
export function parseRights(text: string): string | undefined {
  const letters = Array.from(text).flatMap((letter) =>
    letter === 'c' ? ['k', 'x'] : letter === 'd' ? ['t', 'e'] : [letter],
  );
  return letters.every((letter) => OWNER_RIGHTS.includes(letter)) ? [...new Set(letters)].join('') : undefined;
}
