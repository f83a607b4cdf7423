import type { Store } from '../../mail/store/engine/types.ts';
import { findToken, type TokenRow } from './commands.ts';

/**
 * Whether a token still opens what it opened when it was `known`: it is asked again wherever an answer takes long. It may
 * have ended or been frozen, or the person who let it in has lost a mailbox.
 */
export async function tokenHolds(
  { store, clock }: { store: Pick<Store, 'read'>; clock: () => number },
  known: Pick<TokenRow, 'id' | 'mailboxes'>,
): Promise<boolean> {
  const token = await store.read(findToken, { id: known.id });
  if (token === undefined || token.mode === 'frozen') return false;
  if (token.expiresAt !== null && token.expiresAt <= clock()) return false;
  const { mailboxes } = token;
  return mailboxes === null || (known.mailboxes?.every((one) => mailboxes.includes(one)) ?? false);
}
