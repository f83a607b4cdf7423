import { z } from 'zod';
import { addressKey, parseAddress } from '../../../mail/message/address.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { publicId } from '../../ids.ts';
import { deleteMailbox } from '../../mailboxes/commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Line } from '../schemas.ts';
import { mailboxOf } from '../scope.ts';
import { Which } from './shown.ts';

export const deleteEmail = operation({
  name: 'delete_email',
  title: 'Delete a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Deletes a mailbox with all its mail, webhook, forwards, passwords, service variables and the aliases that lead to it alone; there is no undo. With the last mailbox of a domain the DNS records that this server serves for it go too. confirm, when given, must be the address.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject({ ...Which, confirm: Line(1, 320).optional() }),
  output: z.object({
    deleted: z.literal(true),
    mailboxId: z.string(),
    address: z.string(),
    detachedServiceIds: z.array(z.string()),
    domainDnsTornDown: z.boolean(),
  }),
  rest: { method: 'DELETE', path: '/api/email/mailboxes/:mailboxId' },
  async run(call, { confirm, ...which }) {
    const mailbox = await mailboxOf(call, which);
    if (confirm === undefined && (await callerPolicy(call, [mailbox.id])).governed) {
      refuse(
        'confirmation_required',
        `This deletes all mail of ${mailbox.address}: to be sure, say its address as confirm.`,
        {
          confirm: mailbox.address,
        },
      );
    }
    if (confirm !== undefined && keyOf(confirm) !== keyOf(mailbox.address)) {
      refuse('invalid_arguments', `confirm must be the address of the mailbox, ${mailbox.address}.`, {
        issues: [{ path: 'confirm', message: 'is another address' }],
      });
    }
    const mailboxId = publicId('mailbox', mailbox.id);
    const input = { tenant: call.tenant, account: mailbox.id };
    const done = await call.change(deleteMailbox, input, mailboxId, { address: mailbox.address });
    if (done.kind === 'missing') return notFound('mailbox');
    call.revoked(mailbox.id);
    await rewriteEnvFiles(call, done.services);
    return {
      deleted: true as const,
      mailboxId,
      address: mailbox.address,
      detachedServiceIds: done.services.map((id) => publicId('service', id)),
      domainDnsTornDown: done.tornDown,
    };
  },
});

function keyOf(text: string): string | undefined {
  const address = parseAddress(text);
  return address && addressKey(address);
}
