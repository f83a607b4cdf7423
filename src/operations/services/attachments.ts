import { publicId } from '../../core/ids.ts';
import { z } from 'zod';
import { markSeenByAgent } from '../../../mail/store/actor.ts';
import { attachEmail, detachEmail } from '../../services/attachment-commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { variableNames } from '../../services/environment.ts';
import { oneMailbox } from '../affected-mailboxes.ts';
import { MailboxArguments } from '../mailboxes/shown.ts';
import { operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id } from '../../core/schemas.ts';
import { mailboxOf, serviceOf } from '../scope.ts';

/** Upper case, as in variable names. Without an alias the plain names are used. */
const Alias = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9]{0,30}$/, 'must have letters and digits only')
  .transform((alias) => alias.toUpperCase())
  // Keeps EMAIL_IMAP_HOST unambiguous.
  .refine((alias) => !['ADDRESS', 'IMAP', 'SMTP', 'JMAP'].includes(alias), 'is reserved in EMAIL_*');

export const attachEmailToService = operation({
  name: 'attach_email_to_service',
  title: 'Attach a mailbox to a service',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Gives a service the EMAIL_* variables of a mailbox, password included, and rewrites its environment file. A running program sees them after a restart. Idempotent.',
  hints: { idempotent: true },
  rule: (call, { mailboxId, address }) => oneMailbox(call, { mailboxId, address }),
  input: z.strictObject({
    ...MailboxArguments,
    serviceId: Id('service'),
    alias: Alias.describe('Names the variables EMAIL_<ALIAS>_*').optional(),
  }),
  output: z.object({
    mailboxId: z.string(),
    serviceId: z.string(),
    variables: z.array(z.string()),
    alreadyAttached: z.boolean(),
  }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailboxId/attachments/:serviceId' },
  async run(call, { serviceId, alias = '', ...which }) {
    const mailbox = await mailboxOf(call, which);
    const service = await serviceOf(call, serviceId);
    const input = { organization: call.tenant, service: service.id, account: mailbox.id, alias };
    const done = await call.change(attachEmail, input, serviceId, { mailbox: mailbox.address, alias });
    if (done.kind === 'missing') return notFound('service');
    if (done.kind === 'alias-taken') {
      return refuse(
        'conflict',
        'These variable names are taken by another mailbox or alias. Give another alias, or detach first.',
        { resource: 'service' },
      );
    }
    // The service knows the password from now on, and the token may have written its code.
    if (call.caller.kind === 'token') await call.store.write(markSeenByAgent, { account: mailbox.id });
    await rewriteEnvFiles(call, [service.id]);
    return {
      mailboxId: publicId('mailbox', mailbox.id),
      serviceId,
      variables: variableNames(alias),
      alreadyAttached: done.kind === 'already',
    };
  },
});

export const detachEmailFromService = operation({
  name: 'detach_email_from_service',
  title: 'Detach a mailbox from a service',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Removes the EMAIL_* variables of a mailbox from the environment of a service; the mailbox stays. Idempotent.',
  hints: { idempotent: true },
  rule: (call, { mailboxId, address }) => oneMailbox(call, { mailboxId, address }),
  input: z.strictObject({ ...MailboxArguments, serviceId: Id('service') }),
  output: z.object({
    mailboxId: z.string(),
    serviceId: z.string(),
    removedVariables: z.array(z.string()),
    wasAttached: z.boolean(),
  }),
  rest: { method: 'DELETE', path: '/api/email/mailboxes/:mailboxId/attachments/:serviceId' },
  async run(call, { serviceId, ...which }) {
    const mailbox = await mailboxOf(call, which);
    const service = await serviceOf(call, serviceId);
    const input = { service: service.id, account: mailbox.id };
    const done = await call.change(detachEmail, input, serviceId, { mailbox: mailbox.address });
    await rewriteEnvFiles(call, [service.id]);
    return {
      mailboxId: publicId('mailbox', mailbox.id),
      serviceId,
      removedVariables: done.kind === 'detached' ? variableNames(done.alias) : [],
      wasAttached: done.kind === 'detached',
    };
  },
});
