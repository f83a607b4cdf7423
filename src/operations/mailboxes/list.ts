import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { listOrganizationMailboxes } from '../../mailboxes/commands.ts';
import { operation } from '../../core/operation.ts';
import { nextCursor, Page, pageOf, OfProject, DomainName, Line } from '../../core/schemas.ts';
import { allowedAccounts, projectOf } from '../scope.ts';
import { Mailbox, shownMailbox } from './shown.ts';

export const listEmails = operation({
  name: 'list_emails',
  title: 'List mailboxes',
  toolset: 'email',
  core: true,
  reach: 'mailbox',
  action: 'read',
  orAction: 'mail_read',
  description: 'Lists mailboxes with address, DNS status and attached services, never passwords. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    projectId: OfProject,
    domain: DomainName.optional(),
    query: Line(1, 320).describe('Part of the address or display name').optional(),
    ...Page,
  }),
  output: z.object({ mailboxes: z.array(Mailbox), nextCursor }),
  rest: { method: 'GET', path: '/api/email/mailboxes' },
  async run(call, { projectId, domain, query, ...page }) {
    const project = projectId === undefined ? undefined : (await projectOf(call, projectId)).id;
    const name = domain === undefined ? undefined : parseDomain(domain);
    const allowed = await allowedAccounts(call);
    const all = await call.store.read(listOrganizationMailboxes, { tenant: call.tenant, account: null });
    const mine = all.filter(
      (one) =>
        (allowed === null || allowed.includes(one.id)) &&
        (project === undefined || one.project === project) &&
        (domain === undefined || one.domainName === name) &&
        matches(one, query),
    );
    const { rows, nextCursor: next } = pageOf(mine, page);
    return { mailboxes: rows.map(shownMailbox), nextCursor: next };
  },
});

/** True if the address or the display name contains the text, in any case. */
function matches({ address, displayName }: { address: string; displayName: string | null }, text = ''): boolean {
  return `${address}\n${displayName ?? ''}`.toLowerCase().includes(text.toLowerCase());
}
