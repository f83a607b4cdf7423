import { z } from 'zod';
import { changeAlias, removeAlias, aliasesOf } from '../../../mail/store/address/alias.ts';
import { publicId } from '../../core/ids.ts';
import { agentOf } from '../../core/caller.ts';
import { expiryOf, Id, isoOrNull, nextCursor, Page, pageOf, DomainName } from '../../core/schemas.ts';
import { operation } from '../../core/operation.ts';
import { notFound } from '../../core/refusal.ts';
import { aliasNow, aliasOf, MailboxIds, MaxMessages, namedMailboxes, Note, Shown, shownAlias } from './shown.ts';
import { parseDomain } from '../../../mail/message/address.ts';
import { allowedAccounts, mailboxOf } from '../scope.ts';

export const updateAlias = operation({
  name: 'update_alias',
  title: 'Update an alias',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Changes the targets, expiry, message limit or note of an alias; null removes a limit, omitted fields stay. An expired alias works again with more time or messages.',
  hints: { idempotent: true },
  rule: async (call, { aliasId, mailboxIds }) => {
    if (mailboxIds === undefined) return undefined;
    const { accounts } = await aliasOf(call, aliasId);
    return [...accounts, ...(await namedMailboxes(call, mailboxIds)).map(({ id }) => id)];
  },
  input: z.strictObject({
    aliasId: Id('alias'),
    mailboxIds: MailboxIds.optional(),
    expiresAt: z.iso.datetime({ offset: true }).nullable().describe('RFC 3339; null: never').optional(),
    maxMessages: MaxMessages.nullable().describe('Limit in all; null: none').optional(),
    note: Note.nullable().describe('null removes it').optional(),
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
    'Removes an alias: mail to its address is rejected as unknown, or matches a wildcard or catch-all. To reject it in any case, expire it with update_alias instead.',
  hints: { destructive: true, idempotent: true },
  // Removing one name only removes an address; removing a pattern redirects mail for other names.
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

export const listAliases = operation({
  name: 'list_aliases',
  title: 'List aliases',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  description:
    'Lists aliases with targets, expiry, number of messages, time of the last one, and the domain of the first sender. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ mailboxId: Id('mailbox').optional(), domain: DomainName.optional(), ...Page }),
  output: z.object({ aliases: z.array(Shown), nextCursor }),
  rest: { method: 'GET', path: '/api/email/aliases' },
  async run(call, { mailboxId, domain, ...page }) {
    const account = mailboxId === undefined ? undefined : (await mailboxOf(call, { mailboxId })).id;
    const name = domain === undefined ? undefined : parseDomain(domain);
    const allowed = await allowedAccounts(call);
    const mine = (await call.store.read(aliasesOf, { tenant: call.tenant })).filter(
      ({ accounts, domainName }) =>
        (allowed === null || accounts.some((one) => allowed.includes(one))) &&
        (account === undefined || accounts.includes(account)) &&
        (domain === undefined || domainName === name),
    );
    const { rows, nextCursor: next } = pageOf(mine, page);
    return { aliases: rows.map((one) => shownAlias(call, one, allowed)), nextCursor: next };
  },
});
