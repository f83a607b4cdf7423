import { z } from 'zod';
import { isAliasExhausted } from '../../../mail/store/address/alias-use.ts';
import { type Alias, aliasesOf } from '../../../mail/store/address/alias.ts';
import { publicId, rowId } from '../../core/ids.ts';
import type { Call } from '../../core/operation.ts';
import { notFound } from '../../core/refusal.ts';
import { Id, isoOf, isoOrNull, Line } from '../../core/schemas.ts';
import { allowedAccounts, mailboxOf, outOfScope } from '../scope.ts';

/** A listed alias. */
export const Shown = z.object({
  id: z.string(),
  address: z.string(),
  domainId: z.string(),
  kind: z.enum(['exact', 'wildcard', 'catch_all']),
  mailboxIds: z.array(z.string()),
  state: z.enum(['active', 'expired', 'used_up']),
  expiresAt: z.string().nullable(),
  maxMessages: z.number().nullable(),
  messages: z.number(),
  lastMessageAt: z.string().nullable(),
  firstSenderDomain: z.string().nullable(),
  note: z.string().nullable(),
  createdAt: z.string(),
});

/** Arguments of an alias. */
export const MailboxIds = z.array(Id('mailbox')).min(1).max(50).describe('Targets');
export const MaxMessages = z.number().int().min(1).max(1_000_000_000).describe('Accepts this many in all');
export const Note = Line(1, 200).describe('For people');

export function shownAlias(call: Call, alias: Alias, allowed: readonly number[] | null): z.output<typeof Shown> {
  const { id, key, domain, domainName, accounts, expiresAt, most, used, usedAt, firstFrom, note, createdAt } = alias;
  const inSight = allowed === null ? accounts : accounts.filter((one) => allowed.includes(one));
  return {
    id: publicId('alias', id),
    address: key,
    domainId: publicId('domain', domain),
    kind: key === `*@${domainName}` ? 'catch_all' : alias.wild ? 'wildcard' : 'exact',
    mailboxIds: inSight.map((one) => publicId('mailbox', one)),
    state: stateOf(alias, call.clock()),
    expiresAt: isoOrNull(expiresAt),
    maxMessages: most,
    messages: used,
    lastMessageAt: isoOrNull(usedAt),
    firstSenderDomain: firstFrom === '' ? null : firstFrom,
    note: note === '' ? null : note,
    createdAt: isoOf(createdAt),
  };
}

function stateOf({ expiresAt, most, used }: Alias, now: number): z.output<typeof Shown>['state'] {
  if (!isAliasExhausted({ expiresAt, remaining: most === null ? null : most - used }, now)) return 'active';
  return most !== null && used >= most ? 'used_up' : 'expired';
}

/** Finds an alias; a limited token must be allowed all mailboxes that it delivers to. */
export async function aliasOf(call: Call, aliasId: string): Promise<Alias> {
  const [found] = await call.store.read(aliasesOf, { tenant: call.tenant, id: rowId('alias', aliasId) ?? 0 });
  if (found === undefined) return notFound('alias');
  const allowed = await allowedAccounts(call);
  if (allowed !== null && !found.accounts.every((one) => allowed.includes(one))) outOfScope(call.caller);
  return found;
}

/** Returns the current state of an alias. */
export async function aliasNow(call: Call, id: number): Promise<z.output<typeof Shown>> {
  return shownAlias(call, await aliasOf(call, publicId('alias', id)), await allowedAccounts(call));
}

/** Returns the named mailboxes, or the only mailbox of a limited token. */
export async function namedMailboxes(call: Call, mailboxIds: readonly string[] | undefined) {
  if (mailboxIds === undefined) return [await mailboxOf(call, {})];
  return Promise.all([...new Set(mailboxIds)].map((mailboxId) => mailboxOf(call, { mailboxId })));
}
