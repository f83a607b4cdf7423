import { z } from 'zod';
import { aliasesOf } from '../../../mail/store/alias.ts';
import { removeDomain } from '../../domains/commands.ts';
import { publicId } from '../../ids.ts';
import { operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { domainOf } from '../scope.ts';
import { Which } from './which.ts';

export const removeEmailDomain = operation({
  name: 'remove_email_domain',
  title: 'Remove a domain',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Removes a domain with its DKIM keys, aliases, forwards and the records that this server serves for it; refused while a mailbox is on it. Added again, it has to be verified anew.',
  hints: { destructive: true, idempotent: true },
  // Its aliases and forwards go with it.
  rule: async (call, which) => {
    const { id } = await domainOf(call, which);
    const aliases = await call.store.read(aliasesOf, { tenant: call.tenant });
    return aliases.flatMap(({ domain, accounts }) => (domain === id ? accounts : []));
  },
  input: z.strictObject(Which),
  output: z.object({ removed: z.literal(true), domain: z.string() }),
  rest: { method: 'DELETE', path: '/api/email/domains/:domainId' },
  async run(call, which) {
    const { id, name } = await domainOf(call, which);
    const done = await call.change(removeDomain, { tenant: call.tenant, id }, publicId('domain', id), { domain: name });
    switch (done.kind) {
      case 'removed':
        call.keys.forget(name);
        return { removed: true as const, domain: name };
      case 'mailboxes':
        return refuse('mailboxes_exist', `${name} has mailboxes: delete them first with delete_email.`, {
          mailboxCount: done.count,
          // Mailboxes on it may belong to other projects.
          sample: call.caller.project === null ? done.sample : [],
        });
      case 'missing':
        return notFound('domain');
    }
  },
});
