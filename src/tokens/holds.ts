import type { Store } from '../../mail/store/engine/types.ts';
import { rowId } from '../ids.ts';
import { findToken, type TokenRow } from './commands.ts';

/**
 * A token as it is now; undefined when it opens no more what it opened when it was `known`. It is asked again wherever an
 * answer takes long: it may have ended or been frozen, or the person who let it in has lost a mailbox.
 */
export async function heldToken(
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

/**
 * Whether what was handed to somebody with `credential` (a link) still opens anything; `account`: whose mail it shows. What
 * is no token, as a key or a person, is asked about where it asks.
 */
export async function linkHolds(
  world: Parameters<typeof heldToken>[0],
  credential: string,
  account?: number,
): Promise<boolean> {
  const id = rowId('token', credential);
  const known = { id: id ?? 0, mailboxes: account === undefined ? [] : [account] };
  return id === undefined || (await heldToken(world, known)) !== undefined;
}
