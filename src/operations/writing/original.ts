import { lookupKeys } from '../../../mail/delivery/route.ts';
import type { Address } from '../../../mail/message/address.ts';
import { ownsAddress } from '../../../mail/store/account.ts';
import { canaryAddresses } from '../../../mail/store/canary.ts';
import { DRAFT } from '../../../mail/store/flags.ts';
import { messageText } from '../../reading/message-text.ts';
import { noteOpened } from '../../reading/opened.ts';
import { whyWithheld, type Withheld } from '../../reading/withheld.ts';
import { type Original, readOriginal } from '../../sending/original.ts';
import type { Call } from '../operation.ts';
import { wholeMessage } from '../reading/which.ts';
import { refuse } from '../refusal.ts';
import type { Mailbox } from '../scope.ts';

/** Refuses a token that may not read: what it answers or passes on would be read by whoever gets that. */
export function mustRead({ caller }: Call): void {
  if (caller.actions.has('mail_read')) return;
  refuse('action_not_allowed', 'This token may not mail_read: use one with the action "mail_read".', {
    requiredAction: 'mail_read',
    grantedActions: [...caller.actions],
  });
}

/** A message of others, or one that was sent: a draft was never anybody's to answer. */
export async function namedOriginal(
  call: Call,
  box: Mailbox,
  email: number,
): Promise<{ original: Original; hidden: Withheld | undefined }> {
  const known = await wholeMessage(call, box, email);
  const { row } = known;
  if ((row.flags & DRAFT) !== 0) {
    refuse('conflict', 'This message is a draft, which was never sent: use update_draft or send_draft.', {
      resource: 'message',
    });
  }
  // Whoever gets what it writes reads this too.
  await noteOpened(call, [known], 'an answer or a forward');
  const hidden = whyWithheld(known, await messageText(call, row));
  return { original: await readOriginal(call, row), hidden };
}

/** Whether an address is one of this mailbox's own, aliases and details included. */
export function owns({ store }: Call, { id: account }: Mailbox): (address: Address) => Promise<boolean> {
  return async (address) => (await store.read(ownsAddress, { account, keys: lookupKeys(address) })) !== 'foreign';
}

/** Whether an answer to all leaves an address out: one of its own, or a canary's, which a stranger found and named. */
export function leavesOut(call: Call, box: Mailbox): (address: Address) => Promise<boolean> {
  const { store, tenant } = call;
  const isOwn = owns(call, box);
  return async (address) =>
    (await isOwn(address)) || (await store.read(canaryAddresses, { tenant, keys: lookupKeys(address) })).length > 0;
}
