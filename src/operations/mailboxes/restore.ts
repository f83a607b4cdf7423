import { z } from 'zod';
import { generatePassword } from '../../../mail/login/password.ts';
import { ownCredential } from '../../accounts/new-credential.ts';
import { publicId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { isoOf, nextCursor, OfProject, Page, pageOf, pageStart } from '../../core/schemas.ts';
import { updateManaged } from '../../domains/look.ts';
import { countMailboxes } from '../../domains/queries.ts';
import { type DeletedMailboxLine, listDeletedMailboxes } from '../../mailboxes/deletion-queries.ts';
import { type RestoredMailbox, restoreMailbox } from '../../mailboxes/deletion-commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { disclosesName, lookContext } from '../domains/context.ts';
import { deletedMailboxOf, findOwnDomain, projectOf } from '../scope.ts';
import { Mailbox, MailboxArguments, mailboxNow } from './shown.ts';

const ShownLine = z.object({
  id: z.string(),
  address: z.string(),
  projectId: z.string(),
  usedBytes: z.number(),
  messages: z.number(),
  deletedAt: z.string(),
  deletedBy: z.string(),
  restorableUntil: z.string(),
});

export const listDeletedEmails = operation({
  name: 'list_deleted_emails',
  title: 'List deleted mailboxes',
  toolset: 'email',
  reach: 'project',
  action: 'read',
  description:
    'Lists deleted mailboxes that restore_email can bring back, with the time at which each is purged. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ projectId: OfProject, ...Page }),
  output: z.object({ deletedMailboxes: z.array(ShownLine), nextCursor }),
  rest: { method: 'GET', path: '/api/email/deleted-mailboxes' },
  async run(call, { projectId, ...page }) {
    const project = projectId === undefined ? call.caller.project : (await projectOf(call, projectId)).id;
    const filter = { tenant: call.tenant, id: null, key: null, project, after: pageStart(page), limit: page.limit + 1 };
    const { rows, nextCursor: next } = pageOf(await call.store.read(listDeletedMailboxes, filter), page);
    return { deletedMailboxes: rows.map(shown), nextCursor: next };
  },
});

function shown(line: DeletedMailboxLine): z.output<typeof ShownLine> {
  return {
    id: publicId('mailbox', line.id),
    address: line.address,
    projectId: publicId('project', line.project),
    usedBytes: line.usedBytes,
    messages: line.usedCount,
    deletedAt: isoOf(line.deletedAt),
    deletedBy: line.deletedBy,
    restorableUntil: isoOf(line.purgeAt),
  };
}

export const restoreEmail = operation({
  name: 'restore_email',
  title: 'Restore a mailbox',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Restores a deleted mailbox with mail, folders, flags, webhook, forwards, aliases, service variables and a password that a person chose. A generated password is replaced; app passwords and tokens stay revoked. The answer says what did not come back.',
  hints: {},
  // It takes mail and sends again.
  rule: async (call, which) => [(await deletedMailboxOf(call, which)).id],
  input: z.strictObject(MailboxArguments),
  output: z.object({
    mailbox: Mailbox,
    password: z.enum(['kept', 'replaced']),
    attachedServiceIds: z.array(z.string()),
    notRestored: z.array(z.string()),
    nextSteps: z.array(z.string()),
  }),
  rest: { method: 'POST', path: '/api/email/deleted-mailboxes/:mailboxId/restore' },
  async run(call, which) {
    const deleted = await deletedMailboxOf(call, which);
    const done = await restore(call, deleted);
    await rewriteEnvFiles(call, done.services);
    await serveDomain(call, done.domain);
    return {
      mailbox: await mailboxNow(call, deleted.id),
      password: done.password,
      attachedServiceIds: done.services.map((one) => publicId('service', one)),
      notRestored: done.lost,
      nextSteps: nextSteps(done),
    };
  },
});

type Restored = Extract<RestoredMailbox, { kind: 'restored' }>;

async function restore(call: Call, deleted: DeletedMailboxLine): Promise<Restored> {
  const { id, address, salt, iterations } = deleted;
  const password = await ownCredential(call.secrets, { password: generatePassword(), salt, iterations });
  if (password === undefined) throw new Error('a generated password was not accepted');
  const input = { tenant: call.tenant, account: id, password };
  const done = await call.change(restoreMailbox, input, publicId('mailbox', id), { address });
  switch (done.kind) {
    case 'restored':
      return done;
    case 'missing':
      return notFound('deleted mailbox');
    case 'no-domain':
      return refuse('conflict', `${done.domain} was removed: add it with add_email_domain, then restore again.`, {
        resource: 'domain',
      });
    case 'address-taken':
      return refuse(
        'conflict',
        `${done.address} is a mailbox or an alias again: delete that one first, then restore this one by its mailboxId.`,
        { resource: 'mailbox' },
      );
  }
}

/** Serves the records of a domain again that has its first mailbox back. */
async function serveDomain(call: Call, domain: number): Promise<void> {
  if ((await call.store.read(countMailboxes, { domain })) !== 1) return;
  const found = await findOwnDomain(call, { domainId: publicId('domain', domain) });
  if (!(await disclosesName(call, found))) await updateManaged(lookContext(call, found.name), found);
}

function nextSteps({ password, revokedAppPasswords: apps }: Restored): string[] {
  const steps = ['Tokens that were limited to this mailbox stay revoked: create new ones with create_agent_token.'];
  if (password === 'replaced')
    steps.unshift(
      'The generated password was replaced, and attached services have the new one: other programs need it from reveal_email_credentials.',
    );
  if (apps > 0) steps.push(`${apps} app ${apps === 1 ? 'password stays' : 'passwords stay'} revoked: create new ones.`);
  return steps;
}
