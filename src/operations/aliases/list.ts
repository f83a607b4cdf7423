import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { aliasesOf } from '../../../mail/store/alias.ts';
import { operation } from '../operation.ts';
import { Id, Line, nextCursor, Page, pageOf } from '../schemas.ts';
import { allowedAccounts, mailboxOf } from '../scope.ts';
import { Shown, shownAlias } from './shown.ts';

export const listAliases = operation({
  name: 'list_aliases',
  title: 'List aliases',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  description:
    'Lists aliases: where each leads, until when, how many messages it took, when the last one came, and the domain that used it first. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ mailboxId: Id('mailbox').optional(), domain: Line(1, 253).optional(), ...Page }),
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
