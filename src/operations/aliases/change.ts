import { z } from 'zod';
import { changeAlias, removeAlias } from '../../../mail/store/alias.ts';
import { publicId } from '../../ids.ts';
import { agentOf } from '../caller.ts';
import { expiryOf } from '../expiry.ts';
import { operation } from '../operation.ts';
import { notFound } from '../refusal.ts';
import { Id, isoOrNull } from '../schemas.ts';
import { aliasNow, aliasOf, MailboxIds, MaxMessages, namedMailboxes, Note, Shown } from './shown.ts';

export const updateAlias = operation({
  name: 'update_alias',
  title: 'Change an alias',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Changes where an alias leads, until when, for how many messages in all, or its note; null takes a limit away, and what is left out stays. One that has ended goes on when it is given more time or more messages.',
  hints: { idempotent: true },
  rule: async (call, { aliasId, mailboxIds }) => {
    if (mailboxIds === undefined) return undefined;
    const { accounts } = await aliasOf(call, aliasId);
    return [...accounts, ...(await namedMailboxes(call, mailboxIds)).map(({ id }) => id)];
  },
  input: z.strictObject({
    aliasId: Id('alias'),
    mailboxIds: MailboxIds.optional(),
    expiresAt: z.iso.datetime({ offset: true }).nullable().optional(),
    maxMessages: MaxMessages.nullable().optional(),
    note: Note.nullable().optional(),
  }),
  output: z.object({ alias: Shown }),
  rest: { method: 'PUT', path: '/api/email/aliases/:aliasId' },
  async run(call, { aliasId, mailboxIds, expiresAt, maxMessages, note }) {
    const { id, key } = await aliasOf(call, aliasId);
    const named = mailboxIds === undefined ? undefined : await namedMailboxes(call, mailboxIds);
    const accounts = named?.map((one) => one.id);
    const until = expiresAt === undefined ? undefined : expiryOf(call, expiresAt ?? undefined);
    const terms = { accounts, expiresAt: until, most: maxMessages, note: note === null ? '' : note };
    const done = await call.change(changeAlias, { id, tenant: call.tenant, by: agentOf(call.caller), ...terms }, key, {
      ...(accounts !== undefined && { mailboxIds: accounts.map((one) => publicId('mailbox', one)) }),
      ...(until !== undefined && { expiresAt: isoOrNull(until) }),
      ...(maxMessages !== undefined && { maxMessages }),
    });
    if (done.kind === 'missing') return notFound('alias');
    if (done.kind === 'no-account') return notFound('mailbox');
    return { alias: await aliasNow(call, id) };
  },
});

export const removeAliasOf = operation({
  name: 'remove_alias',
  title: 'Remove an alias',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Removes an alias: mail to its address is refused as unknown, or goes to a wildcard or catch-all that fits. To have it refused whatever else fits, let it expire with update_alias.',
  hints: { destructive: true, idempotent: true },
  // One name is an address less; a pattern lets what is written to others go elsewhere.
  rule: async (call, { aliasId }) => {
    const { wild, accounts } = await aliasOf(call, aliasId);
    return wild ? accounts : undefined;
  },
  input: z.strictObject({ aliasId: Id('alias') }),
  output: z.object({ removed: z.literal(true), address: z.string() }),
  rest: { method: 'DELETE', path: '/api/email/aliases/:aliasId' },
  async run(call, { aliasId }) {
    const { id, key, used } = await aliasOf(call, aliasId);
    const input = { id, tenant: call.tenant, by: agentOf(call.caller) };
    const done = await call.change(removeAlias, input, key, { messages: used });
    if (done.kind === 'missing') return notFound('alias');
    return { removed: true as const, address: key };
  },
});
