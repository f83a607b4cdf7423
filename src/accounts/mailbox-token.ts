/**
 * The mailbox's password as one word that says whose it is: what a program sends as Bearer to the JMAP door. It rotates
 * with the password, and opens what the password opens.
 */
export function mailboxToken(prefix: string, account: number, password: string): string {
  return `${prefix}_jm_${account.toString(36)}_${Buffer.from(password).toString('base64url')}`;
}

/** The account that a mailbox token names and its password, unproved; undefined: this is none. */
export function readMailboxToken(text: string, prefix: string): { account: number; password: string } | undefined {
  if (!text.startsWith(`${prefix}_jm_`)) return undefined;
  const [, account, password] = /^([1-9a-z][0-9a-z]{0,9})_([\w-]{1,400})$/.exec(text.slice(prefix.length + 4)) ?? [];
  if (account === undefined || password === undefined) return undefined;
  return { account: Number.parseInt(account, 36), password: Buffer.from(password, 'base64url').toString() };
}
