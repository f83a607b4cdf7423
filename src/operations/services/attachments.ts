import { z } from 'zod';
import { markSeenByAgent } from '../../../mail/store/hand.ts';
import { publicId } from '../../ids.ts';
import { attachEmail, detachEmail } from '../../services/attachment-commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { variableNames } from '../../services/environment.ts';
import { oneMailbox } from '../about.ts';
import { Which } from '../mailboxes/shown.ts';
import { operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id } from '../schemas.ts';
import { mailboxOf, serviceOf } from '../scope.ts';

/** Upper case, as variables are written; what stands for no alias is the plain names. */
const Alias = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9]{0,30}$/, 'an alias has letters and digits')
  .transform((alias) => alias.toUpperCase())
  // EMAIL_IMAP_HOST must not have two meanings.
  .refine((alias) => !['ADDRESS', 'IMAP', 'SMTP', 'JMAP'].includes(alias), 'is a name of its own in EMAIL_*');

export const attachEmailToService = operation({
  name: 'attach_email_to_service',
  title: 'Give a service the variables of a mailbox',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Gives a service the EMAIL_* variables of a mailbox, its password among them, under EMAIL_<ALIAS>_* when an alias is given; rewrites its environment file. A running program sees them after a restart. Twice is as good as once.',
  hints: { idempotent: true },
  rule: (call, { mailboxId, address }) => oneMailbox(call, { mailboxId, address }),
  input: z.strictObject({ ...Which, serviceId: Id('service'), alias: Alias.optional() }),
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
        'These names are taken: another mailbox, or this one under another alias, is attached. Give another alias, or detach first.',
        { resource: 'service' },
      );
    }
    // What runs there has the password from now on, and the token may have written it.
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
  title: 'Take the variables of a mailbox from a service',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Takes the EMAIL_* variables of a mailbox out of the environment of a service; the mailbox stays. Twice is as good as once.',
  hints: { idempotent: true },
  rule: (call, { mailboxId, address }) => oneMailbox(call, { mailboxId, address }),
  input: z.strictObject({ ...Which, serviceId: Id('service') }),
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
