import { z } from 'zod';
import { aliasesOf } from '../../../mail/store/address/alias.ts';
import { removeDomain } from '../../domains/commands.ts';
import { publicId } from '../../core/ids.ts';
import { operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { findOwnDomain } from '../scope.ts';
import { DomainArguments } from './arguments.ts';

export const removeEmailDomain = operation({
  name: 'remove_email_domain',
  title: 'Remove a domain',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Removes a domain with its DKIM keys, aliases, forwards and the DNS records served here; refused while a mailbox uses it. If added again, it must be verified again.',
  hints: { destructive: true, idempotent: true },
  // Its aliases and forwards are removed too.
  rule: async (call, which) => {
    const { id } = await findOwnDomain(call, which);
    const aliases = await call.store.read(aliasesOf, { tenant: call.tenant });
    return aliases.flatMap(({ domain, accounts }) => (domain === id ? accounts : []));
  },
  input: z.strictObject(DomainArguments),
  output: z.object({ removed: z.literal(true), domain: z.string() }),
  rest: { method: 'DELETE', path: '/api/email/domains/:domainId' },
  async run(call, which) {
    const { id, name } = await findOwnDomain(call, which);
    const done = await call.change(removeDomain, { tenant: call.tenant, id }, publicId('domain', id), { domain: name });
    switch (done.kind) {
      case 'removed':
        call.keys.evict(name);
        return { removed: true as const, domain: name };
      case 'mailboxes':
        return refuse('mailboxes_exist', `${name} still has mailboxes: delete them first with delete_email.`, {
          mailboxCount: done.count,
          // Its mailboxes may belong to other projects.
          sample: call.caller.project === null ? done.sample : [],
        });
      case 'missing':
        return notFound('domain');
    }
  },
});
