import { z } from 'zod';
import { type Address, addressKey, parseAddress } from '../../../mail/message/address.ts';
import { addAlias, MOST_ALIASES, type NewAlias } from '../../../mail/store/alias.ts';
import { publicId } from '../../ids.ts';
import { aliasName } from '../../mailboxes/alias-name.ts';
import { agentOf } from '../caller.ts';
import { expiryOf } from '../expiry.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isoOrNull, Line } from '../schemas.ts';
import { domainOf, type Mailbox } from '../scope.ts';
import { aliasNow, MailboxIds, MaxMessages, namedMailboxes, Note, Shown } from './shown.ts';

/** Names are drawn until one is free: mostly the first. */
const DRAWS = 5;

export const createAlias = operation({
  name: 'create_alias',
  title: 'Make an alias',
  toolset: 'email',
  core: true,
  reach: 'mailbox',
  action: 'manage',
  description:
    'Makes an address that leads to one or more mailboxes, e.g. for one sign-up. Without localPart a readable name is made; "sales-*" takes all that fits, "*" is the catch-all of the domain. With expiresAt or maxMessages it ends by itself. list_aliases says how often and by whom it was used.',
  hints: {},
  // One name is an address more; a pattern takes what is written to others.
  rule: async (call, { localPart, mailboxIds }) =>
    localPart?.includes('*') === true ? (await namedMailboxes(call, mailboxIds)).map(({ id }) => id) : undefined,
  input: z.strictObject({
    mailboxIds: MailboxIds.optional(),
    localPart: Line(1, 64).optional(),
    domain: Line(1, 253).optional(),
    domainId: Id('domain').optional(),
    expiresAt: z.iso.datetime({ offset: true }).optional(),
    maxMessages: MaxMessages.optional(),
    note: Note.optional(),
  }),
  output: z.object({ alias: Shown }),
  rest: { method: 'POST', path: '/api/email/aliases', status: 201 },
  async run(call, { mailboxIds, localPart, expiresAt, maxMessages, note, ...where }) {
    const mailboxes = await namedMailboxes(call, mailboxIds);
    const domain = await domainFor(call, where, mailboxes);
    withinToken(call, localPart, domain.name, mailboxes);
    const row = {
      tenant: call.tenant,
      domain: domain.id,
      accounts: mailboxes.map((one) => one.id),
      note: note ?? '',
      expiresAt: expiryOf(call, expiresAt),
      most: maxMessages ?? null,
    };
    for (let draws = 1; ; draws++) {
      const address = addressAt(localPart ?? aliasName(), domain.name);
      const id = await add(call, { ...row, key: addressKey(address) }, localPart !== undefined || draws === DRAWS);
      if (id !== undefined) return { alias: await aliasNow(call, id) };
    }
  },
});

/** The one that is named, else that of the first mailbox. */
function domainFor(
  call: Call,
  where: { domain?: string | undefined; domainId?: string | undefined },
  [first]: readonly Mailbox[],
) {
  if (where.domain !== undefined || where.domainId !== undefined || first === undefined) return domainOf(call, where);
  return domainOf(call, { domain: first.address.slice(first.address.lastIndexOf('@') + 1) });
}

/**
 * Who may read some mailboxes only is given addresses, and does not take any: a chosen name could be one that others
 * already write to, or postmaster@, to which proofs of the whole domain are sent.
 */
function withinToken(call: Call, localPart: string | undefined, domain: string, mailboxes: readonly Mailbox[]): void {
  const { mailboxes: allowed } = call.caller;
  if (allowed === null) return;
  const own = mailboxes.some(({ address }) => address.endsWith(`@${domain}`));
  if (localPart === undefined && own) return;
  refuse(
    'out_of_scope',
    'This token is limited to some mailboxes: leave out localPart and domain, and a name is made at theirs.',
    { allowedMailboxIds: allowed.map((id) => publicId('mailbox', id)) },
  );
}

function addressAt(localPart: string, domain: string): Address {
  const address = parseAddress(`${localPart}@${domain}`);
  const stars = localPart.split('*').length - 1;
  if (address?.domain === domain && !localPart.includes('@') && stars <= 1) return address;
  const why = stars > 1 ? 'it has more than one *' : 'it is no local part';
  return refuse('invalid_arguments', `localPart: ${why}.`, { issues: [{ path: 'localPart', message: why }] });
}

/** The row of the new alias; undefined when the name is taken and it is not the last that is tried. */
async function add(call: Call, row: NewAlias, last: boolean): Promise<number | undefined> {
  const detail = {
    mailboxIds: row.accounts.map((one) => publicId('mailbox', one)),
    expiresAt: isoOrNull(row.expiresAt),
    maxMessages: row.most,
  };
  const done = await call.change(addAlias, { ...row, by: agentOf(call.caller) }, row.key, detail);
  switch (done.kind) {
    case 'added':
      return done.id;
    case 'taken':
      if (!last) return undefined;
      return refuse('already_exists', `${row.key} is a mailbox or an alias already: choose another localPart.`, {
        resource: 'alias',
      });
    case 'no-domain':
      return notFound('domain');
    case 'no-account':
      return notFound('mailbox');
    case 'too-many':
      return refuse(
        'conflict',
        `This organization has ${MOST_ALIASES} aliases, as many as it may: remove some first.`,
        {
          resource: 'alias',
        },
      );
  }
}
