import type { Store } from '../../mail/store/engine/types.ts';
import { networkOf } from '../../mail/guard/network.ts';
import { rowId } from '../core/ids.ts';
import { findToken } from './commands.ts';
import type { TokenRow } from '../core/caller.ts';

/**
 * Reads a token again; undefined if it no longer opens all mailboxes of `known`. Long operations call it repeatedly: the
 * token may be revoked, expired or frozen, or its person may have lost a mailbox.
 */
export async function currentToken(
  { store, clock }: { store: Pick<Store, 'read'>; clock: () => number },
  known: Pick<TokenRow, 'id' | 'mailboxes'>,
): Promise<TokenRow | undefined> {
  const token = await store.read(findToken, { id: known.id });
  if (token === undefined || token.mode === 'frozen') return undefined;
  if (token.expiresAt !== null && token.expiresAt <= clock()) return undefined;
  const { mailboxes } = token;
  const isWhole = mailboxes === null || (known.mailboxes?.every((one) => mailboxes.includes(one)) ?? false);
  return isWhole ? token : undefined;
}

export const OTHER_NETWORK = 'this limited token is only valid from the network where it was created';

/** Tests if a token is presented from the network that it is bound to. */
export function isUsableFrom({ narrow }: TokenRow, ip: string): boolean {
  return narrow?.network === undefined || narrow.network === networkOf(ip);
}

/**
 * Checks that the token behind a link is still valid, for mail of `account` if given. Returns true for keys and people,
 * which are checked elsewhere.
 */
export async function isLinkValid(
  context: Parameters<typeof currentToken>[0],
  credential: string,
  account?: number,
): Promise<boolean> {
  const id = rowId('token', credential);
  const known = { id: id ?? 0, mailboxes: account === undefined ? [] : [account] };
  return id === undefined || (await currentToken(context, known)) !== undefined;
}
