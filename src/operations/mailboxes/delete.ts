import { z } from 'zod';
import { addressKey, parseAddress } from '../../../mail/message/address.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { publicId } from '../../core/ids.ts';
import { deleteMailbox, purgeMailbox } from '../../mailboxes/deletion-commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse, RefusedError } from '../../core/refusal.ts';
import { isoOf, Line } from '../../core/schemas.ts';
import { deletedMailboxOf, mailboxOf } from '../scope.ts';
import { MailboxArguments } from './shown.ts';

type Which = { mailboxId?: string | undefined; address?: string | undefined };
type Target = { id: number; address: string; deleted: boolean };

export const deleteEmail = operation({
  name: 'delete_email',
  title: 'Delete a mailbox',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Deletes a mailbox with its mail, webhook, forwards, service variables, the aliases that lead only to it and its passwords; restore_email brings it back for 30 days. permanently purges at once: people only, a token proposes it. The last mailbox of a domain also removes the DNS records served here.',
  hints: { destructive: true, idempotent: true },
  irreversible: async (call, { permanently, confirm: _, ...which }) => {
    if (permanently) await targetOf(call, which, permanently);
    return permanently;
  },
  input: z.strictObject({
    ...MailboxArguments,
    confirm: Line(1, 320).describe('Must be the address').optional(),
    permanently: z.boolean().default(false).describe('No restore; also for a deleted mailbox'),
  }),
  output: z.object({
    deleted: z.literal(true),
    mailboxId: z.string(),
    address: z.string(),
    detachedServiceIds: z.array(z.string()),
    domainDnsTornDown: z.boolean(),
    restorableUntil: z.string().nullable(),
    revokedTokens: z.number(),
    revokedAppPasswords: z.number(),
  }),
  rest: { method: 'DELETE', path: '/api/email/mailboxes/:mailboxId' },
  async run(call, { confirm, permanently, ...which }) {
    const target = await targetOf(call, which, permanently);
    await checkConfirmation(call, target, confirm);
    const { id, address } = target;
    const retired = target.deleted ? NOTHING_MORE : await retire(call, target);
    if (permanently) await purge(call, target);
    const { services, tornDown, purgeAt, revokedTokens, revokedAppPasswords } = retired;
    return {
      deleted: true as const,
      mailboxId: publicId('mailbox', id),
      address,
      detachedServiceIds: services.map((one) => publicId('service', one)),
      domainDnsTornDown: tornDown,
      restorableUntil: permanently ? null : isoOf(purgeAt),
      revokedTokens,
      revokedAppPasswords,
    };
  },
});

/** For a mailbox that was deleted before. */
const NOTHING_MORE = { services: [], tornDown: false, purgeAt: 0, revokedTokens: 0, revokedAppPasswords: 0 };

/** Finds a mailbox in use, or also a deleted one. */
async function targetOf(call: Call, which: Which, alsoDeleted: boolean): Promise<Target> {
  try {
    return { ...(await mailboxOf(call, which)), deleted: false };
  } catch (error) {
    const isMissing = error instanceof RefusedError && error.refusal.error === 'not_found';
    if (!isMissing || !alsoDeleted) throw error;
    return { ...(await deletedMailboxOf(call, which)), deleted: true };
  }
}

async function checkConfirmation(call: Call, { id, address }: Target, confirm: string | undefined): Promise<void> {
  if (confirm === undefined && (await callerPolicy(call, [id])).governed) {
    refuse('confirmation_required', `This deletes all mail of ${address}. To proceed, pass the address as confirm.`, {
      confirm: address,
    });
  }
  if (confirm === undefined || keyOf(confirm) === keyOf(address)) return;
  refuse('invalid_arguments', `confirm must be the mailbox address, ${address}.`, {
    issues: [{ path: 'confirm', message: 'is a different address' }],
  });
}

async function retire(call: Call, { id, address }: Target) {
  const input = { tenant: call.tenant, account: id, by: call.caller.actor };
  const done = await call.change(deleteMailbox, input, publicId('mailbox', id), { address });
  if (done.kind === 'missing') return notFound('mailbox');
  call.revoked(id);
  await rewriteEnvFiles(call, done.services);
  return done;
}

/** Its mail is out of reach with the last commit; rows and files are deleted from disk by the retention job. */
async function purge(call: Call, { id, address }: Target): Promise<void> {
  const input = { tenant: call.tenant, account: id };
  const detail = { address, permanently: true };
  let kind = 'purging';
  while (kind === 'purging') ({ kind } = await call.change(purgeMailbox, input, publicId('mailbox', id), detail));
  if (kind === 'missing') notFound('mailbox');
  if (kind === 'held')
    refuse('conflict', `${address} is under legal hold: lift it first (set_legal_hold).`, { resource: 'hold' });
}

function keyOf(text: string): string | undefined {
  const address = parseAddress(text);
  return address && addressKey(address);
}
