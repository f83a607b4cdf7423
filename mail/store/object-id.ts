import { ACCOUNT_SPAN } from './search/account-span.ts';

/**
 * Ids of messages, threads and mailboxes as clients see them: a type letter, then the row number in base 36. JMAP ids and
 * the OBJECTIDs of IMAP are the same (RFC 8474, RFC 9698). Short, no characters that need escaping (RFC 8620 1.2), never
 * reused, valid in one account only.
 */
const KINDS = {
  email: 'm',
  thread: 't',
  mailbox: 'f',
  upload: 'u',
  identity: 'i',
  submission: 's',
  pushSubscription: 'p',
} as const;

export type JmapIdKind = keyof typeof KINDS;

export function jmapId(kind: JmapIdKind, row: number): string {
  return `${KINDS[kind]}${(isOfAccount(kind) ? row % ACCOUNT_SPAN : row).toString(36)}`;
}

/** Parses an id into a row number; undefined if the text is not an id of this kind. Does not check that the row exists. */
export function jmapRow(kind: JmapIdKind, account: number, id: string): number | undefined {
  if (!/^[a-z][1-9a-z][0-9a-z]{0,9}$/.test(id) || id[0] !== KINDS[kind]) return undefined;
  const number = Number.parseInt(id.slice(1), 36);
  if (isOfAccount(kind)) return number < ACCOUNT_SPAN ? account * ACCOUNT_SPAN + number : undefined;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Email and thread rows are numbered per account, so that an account's rows are adjacent. */
function isOfAccount(kind: JmapIdKind): boolean {
  return kind === 'email' || kind === 'thread';
}
