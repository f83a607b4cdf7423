import { z } from 'zod';
import { addressKey, parseAddress } from '../../../mail/message/address.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { publicId } from '../../core/ids.ts';
import { deleteMailbox } from '../../mailboxes/commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';
import { mailboxOf } from '../scope.ts';
import { MailboxArguments } from './shown.ts';

export const deleteEmail = operation({
  name: 'delete_email',
  title: 'Delete a mailbox',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Deletes a mailbox with all its mail, webhook, forwards, passwords, service variables and the aliases that lead only to it; no undo. The last mailbox of a domain also removes the DNS records served here.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject({ ...MailboxArguments, confirm: Line(1, 320).describe('Must be the address').optional() }),
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
        `This deletes all mail of ${mailbox.address}. To proceed, pass the address as confirm.`,
        {
          confirm: mailbox.address,
        },
      );
    }
    if (confirm !== undefined && keyOf(confirm) !== keyOf(mailbox.address)) {
      refuse('invalid_arguments', `confirm must be the mailbox address, ${mailbox.address}.`, {
        issues: [{ path: 'confirm', message: 'is a different address' }],
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
