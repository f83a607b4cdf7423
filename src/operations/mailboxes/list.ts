import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { setQuota } from '../../../mail/store/account.ts';
import { publicId } from '../../ids.ts';
import { listMailboxes, nameMailbox } from '../../mailboxes/commands.ts';
import { operation } from '../operation.ts';
import { Id, Line, nextCursor, Page, pageOf } from '../schemas.ts';
import { allowedAccounts, mailboxOf, projectOf } from '../scope.ts';
import { Mailbox, mailboxNow, shownMailbox, Which } from './shown.ts';

export const listEmails = operation({
  name: 'list_emails',
  title: 'List mailboxes',
  toolset: 'email',
  core: true,
  reach: 'mailbox',
  action: 'read',
  description: 'Lists mailboxes with address, DNS status and attached services, never passwords. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    projectId: Id('project').optional(),
    domain: Line(1, 253).optional(),
    ...Page,
  }),
  output: z.object({ mailboxes: z.array(Mailbox), nextCursor }),
  rest: { method: 'GET', path: '/api/email/mailboxes' },
  async run(call, { projectId, domain, ...page }) {
    const project = projectId === undefined ? undefined : (await projectOf(call, projectId)).id;
    const name = domain === undefined ? undefined : parseDomain(domain);
    const allowed = await allowedAccounts(call);
    const all = await call.store.read(listMailboxes, { tenant: call.tenant, account: null });
    const mine = all.filter(
      (one) =>
        (allowed === null || allowed.includes(one.id)) &&
        (project === undefined || one.project === project) &&
        (domain === undefined || one.domainName === name),
    );
    const { rows, nextCursor: next } = pageOf(mine, page);
    return { mailboxes: rows.map(shownMailbox), nextCursor: next };
  },
});

export const updateEmail = operation({
  name: 'update_email',
  title: 'Change a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description: 'Changes the display name or the quota of a mailbox; null takes one away. Mail that is there stays.',
  hints: { idempotent: true },
  input: z.strictObject({
    ...Which,
    displayName: Line(1, 100).nullable().optional(),
    quotaBytes: z
      .number()
      .int()
      .min(1_000_000)
      .max(2 ** 50)
      .nullable()
      .optional(),
  }),
  output: z.object({ mailbox: Mailbox }),
  rest: { method: 'PUT', path: '/api/email/mailboxes/:mailboxId' },
  async run(call, { displayName, quotaBytes, ...which }) {
    const { id } = await mailboxOf(call, which);
    const target = publicId('mailbox', id);
    if (displayName !== undefined) await call.change(nameMailbox, { account: id, displayName }, target);
    if (quotaBytes !== undefined) await call.change(setQuota, { account: id, bytes: quotaBytes }, target);
    return { mailbox: await mailboxNow(call, id) };
  },
});
