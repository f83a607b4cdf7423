import { type Address, lookupKeys } from '../../../mail/message/address.ts';
import { ownsAddress } from '../../../mail/store/account/account.ts';
import { canaryAddresses } from '../../../mail/agents/canary/canary.ts';
import { DRAFT } from '../../../mail/store/mailbox/flags.ts';
import { messageText } from '../../reading/message-text.ts';
import { recordRead } from '../../reading/read-record.ts';
import { quarantineReason, type QuarantineReason } from '../../reading/quarantine.ts';
import { type OriginalMessage, readOriginal } from '../../sending/original.ts';
import type { Call } from '../../core/operation.ts';
import { wholeMessage } from '../reading/mailbox-arguments.ts';
import { refuse } from '../../core/refusal.ts';
import type { Mailbox } from '../scope.ts';

/** Refuses a token that may not read: a reply or forward discloses the original. */
export function mustRead({ caller }: Call): void {
  if (caller.actions.has('mail_read')) return;
  refuse('action_not_allowed', 'This token lacks the action "mail_read": use one that has it.', {
    requiredAction: 'mail_read',
    grantedActions: [...caller.actions],
  });
}

/** Loads a received or sent message to reply to; not a draft. */
export async function namedOriginal(
  call: Call,
  box: Mailbox,
  email: number,
): Promise<{ original: OriginalMessage; hidden: QuarantineReason | undefined }> {
  const known = await wholeMessage(call, box, email);
  const { row } = known;
  if ((row.flags & DRAFT) !== 0) {
    refuse('conflict', 'This message is an unsent draft: use update_draft or send_draft.', {
      resource: 'message',
    });
  }
  // The recipient reads the original too.
  await recordRead(call, [known], 'an answer or a forward', 'sent');
  const hidden = quarantineReason(known, await messageText(call, row));
  return { original: await readOriginal(call, row), hidden };
}

/** Returns a test for addresses of this mailbox itself, aliases and +details included. */
export function ownAddressTest({ store }: Call, { id: account }: Mailbox): (address: Address) => Promise<boolean> {
  return async (address) => (await store.read(ownsAddress, { account, keys: lookupKeys(address) })) !== 'foreign';
}

/**
 * Returns true if a reply to all leaves an address out: an own one, or a canary's, which an outsider found and named.
 */
export function leavesOut(call: Call, box: Mailbox): (address: Address) => Promise<boolean> {
  const { store, tenant } = call;
  const isOwn = ownAddressTest(call, box);
  return async (address) =>
    (await isOwn(address)) || (await store.read(canaryAddresses, { tenant, keys: lookupKeys(address) })).length > 0;
}
