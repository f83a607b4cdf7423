import { z } from 'zod';
import { addressKey, parseAddress } from '../../../mail/message/address.ts';
import { listAccounts } from '../../../mail/store/account/account.ts';
import { RestoredMail } from '../../backup/restored-mailbox.ts';
import { restoreStep } from '../../backup/restore-mailbox.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';

const Position = z.strictObject({ mailbox: z.number().int(), uid: z.number().int() });

export const restoreMailboxStep = operation({
  name: 'restore_mailbox_step',
  title: 'Restore messages of a mailbox',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  description:
    'Puts messages of a restored data directory back into a mailbox that lacks them, some at a time; used by mailstead restore --mailbox.',
  hints: { idempotent: true },
  input: z.strictObject({
    address: z.string().min(1).max(320).describe('Mail address'),
    directory: z.string().min(1).max(4_096).describe('Restored data directory on this machine'),
    messageId: z.string().min(1).max(998).describe('Only messages with this Message-ID').optional(),
    after: Position.optional().describe('Position from the step before'),
  }),
  output: z.object({
    restored: z.number(),
    present: z.number(),
    skipped: z.number(),
    reason: z.string().nullable(),
    next: Position.nullable(),
  }),
  async run({ store }, { address, directory, messageId, after = { mailbox: 0, uid: 0 } }) {
    const wanted = parseAddress(address);
    const all = await store.read(listAccounts, undefined);
    const account = all.find((one) => {
      const own = parseAddress(one.address);
      return own !== undefined && wanted !== undefined && addressKey(own) === addressKey(wanted);
    });
    if (account === undefined) {
      return refuse(
        'not_found',
        `No mailbox ${address} on this server: restore it with mailstead mailbox restore, or create it with mailstead mailbox add.`,
      );
    }
    using from = new RestoredMail(directory, account.address);
    if (!from.exists)
      return refuse('not_found', `The snapshot has no mailbox ${address}: choose an earlier one (--at).`);
    return restoreStep(store, account.id, from, after, messageId);
  },
});
